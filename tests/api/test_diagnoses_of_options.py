"""Refusals of an option and of its account, for every combination of identity, code and account, held
against the scenario's own data (SPEC 2.2, 2.16, 4.11)."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.diagnoses import DATA, code, diagnosis, topup

# Every loan that is written: identity, code, account, on sale.
FIRST, SECOND, CLOSED, DRAWN = "900101145678", "880202025432", "770303031111", "660404049999"
WRITTEN = [
    (FIRST, "K", "1029384756", True),
    (FIRST, "SP", "837465920", True),
    (FIRST, "W", "55500055", False),
    (SECOND, "U", "7777777771", True),
    (CLOSED, "K", "6666666661", False),
]
CODES = {code for _, code, _, _ in WRITTEN}
IDENTITY = {
    "id": "ic_number",
    "label": "Identity number",
    "validation": {"pattern": "^[0-9]{12}$", "message": "12 digits"},
}
AMOUNT = {"id": "amount", "role": "pricing", "type": "money", "label": "Amount", "validation": {"min": 1, "max": 100}}


def loan_field(**more: Any) -> dict[str, Any]:
    source = {"type": "dynamic", "depends_on": ["ic_number"], "params": {"account_number": {"from_field": "ic_number"}}}
    return {"id": "loan", "role": "account", "type": "select", "label": "Loan", "data_source": source} | more


def loans() -> dict[str, Any]:
    lists: dict[str, Any] = {}
    for identity, plan, account, is_active in WRITTEN:
        item = {"code": plan, "label": plan, "account_number": account, "is_active": is_active}
        lists.setdefault(identity, []).append(item)
    return loan_field(options_for=lists)


def made(name: str, *fields: dict[str, Any], **extras: Any) -> dict[str, Any]:
    return {
        "code": name,
        "name": name,
        "image_url": "https://images.example.com/loans.png",
        "processing_time": "instant",
        "discount": {"type": "percentage", "value": 1},
        "fields": [*fields, AMOUNT],
        "fulfillment": {"account": {"from_field": "loan", "path": "account_number"}, "extras": extras},
    }


CODE = {"from_field": "loan", "path": "code"}
FIXED = [{"code": "A", "label": "A", "account_number": "11111111"}, {"code": "B", "label": "B"}]
PRODUCTS = [
    made("LOANS", IDENTITY, loans(), subproduct_code=CODE, ic_number="ic_number"),
    made("FREE", IDENTITY, loans(), subproduct_code=CODE | {"omit_if_empty": True}, ic_number="ic_number"),
    made(
        "FIXED",
        {"id": "loan", "role": "account", "type": "select", "label": "Loan", "options": FIXED},
        subproduct_code=CODE,
    ),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running({"catalog": {"products": PRODUCTS}}) as started:
        yield started


def pay(client: Client, product_code: str, account: str, **extras: str) -> tuple[int, str]:
    answer = topup(client, {"product": product_code, "account": account, "amount": "200", "extras": extras})
    return answer.data["statusCode"], diagnosis(client, answer)


NAME, IC = r"extras\.subproduct_code: ", r"extras\.ic_number (?P<ic>\w+)"
SENTENCES = [
    NAME + rf"LOANS has no option (?P<other>\w+) for {IC}(; it has (?P<offered>.+))?",
    NAME + r"option (?P<inactive>\w+) is inactive",
    rf"account (?P<foreign>\d+) does not belong to option (?P<sent>\w+) of {IC}; it has account (?P<accounts>[\d, ]+)",
    r"amount must be at most 100; 200 is more",
]


def accounts_of(ic: str, plan: str) -> set[str]:
    return {account for one, other, account, is_active in WRITTEN if (one, other) == (ic, plan) and is_active}


def active_codes(ic: str) -> set[str]:
    return {plan for one, plan, _, is_active in WRITTEN if one == ic and is_active}


def lies(said: dict[str, str], ic: str, plan: str, account: str) -> Iterator[str]:
    """The claims of a sentence that the data contradict."""
    offered = set((said.get("offered") or "").split(", ")) - {""}
    claims = {
        "ic": said.get("ic", ic) == ic,
        "other": said.get("other", plan) == plan and ("other" not in said or plan not in active_codes(ic)),
        "offered": "other" not in said or offered == active_codes(ic),
        "inactive": "inactive" not in said or (ic, said["inactive"], False) in {(a, b, d) for a, b, _, d in WRITTEN},
        "sent": said.get("sent", plan) == plan,
        "accounts": "accounts" not in said or set(said["accounts"].split(", ")) == accounts_of(ic, plan),
        "foreign": "foreign" not in said or (said["foreign"] == account and account not in accounts_of(ic, plan)),
    }
    return (claim for claim, holds in claims.items() if not holds)


IDENTITIES = (FIRST, SECOND, CLOSED, DRAWN)
ACCOUNTS = (*(account for _, _, account, _ in WRITTEN), "99999999")


@pytest.mark.parametrize(("ic", "plan", "account"), list(product(IDENTITIES, (*sorted(CODES), "X", "k"), ACCOUNTS)))
def test_every_sentence_about_a_loan_is_true(client: Client, ic: str, plan: str, account: str) -> None:
    status, said = pay(client, "LOANS", account, ic_number=ic, subproduct_code=plan)
    if "; did you mean " in said:
        said, _, likely = said.rstrip("?").partition("; did you mean ")
        assert plan not in CODES
        assert likely in active_codes(ic)
        assert said == f"extras.subproduct_code: LOANS has no option {plan} for extras.ic_number {ic}"
        return
    found = [match for one in SENTENCES if (match := re.fullmatch(one, said))]
    assert len(found) == 1, said
    assert list(lies(found[0].groupdict(), ic, plan, account)) == []
    is_good = account in accounts_of(ic, plan)
    assert (status == 58) is is_good
    assert ("amount" in said) is is_good


CASES = [
    # identity, code, account, and what is said
    (FIRST, "U", "1029384756", "LOANS has no option U for extras.ic_number 900101145678; it has K, SP"),
    (DRAWN, "K", "1029384756", "LOANS has no option K for extras.ic_number 660404049999"),
    (FIRST, "X", "1029384756", "LOANS has no option X for extras.ic_number 900101145678; it has K, SP"),
    (FIRST, "k", "1029384756", "LOANS has no option k for extras.ic_number 900101145678; did you mean K?"),
    (FIRST, "W", "55500055", "option W is inactive"),
    *[
        (
            FIRST,
            "SP",
            account,
            f"account {account} does not belong to option SP of extras.ic_number 900101145678; "
            "it has account 837465920",
        )
        for account in ("1029384756", "7777777771", "99999999", "55500055")
    ],
]


@pytest.mark.parametrize(("ic", "plan", "account", "wanted"), CASES)
def test_each_combination_says_what_would_have_been_right(
    client: Client, ic: str, plan: str, account: str, wanted: str
) -> None:
    _, said = pay(client, "LOANS", account, ic_number=ic, subproduct_code=plan)
    assert said.removeprefix("extras.subproduct_code: ") == wanted


def test_an_identity_that_is_missing_or_malformed_is_reported_before_its_options(client: Client) -> None:
    assert (
        pay(client, "LOANS", "1029384756", subproduct_code="U")[1] == "extras.ic_number is missing, LOANS requires it"
    )
    _, said = pay(client, "LOANS", "1029384756", subproduct_code="U", ic_number="900101-14-5678")
    assert said == "extras.ic_number must match ^[0-9]{12}$ (12 digits)"


def test_without_an_optional_code_any_account_of_the_identity_is_good(client: Client) -> None:
    assert pay(client, "FREE", "837465920", ic_number=FIRST) == (58, "amount must be at most 100; 200 is more")
    _, said = pay(client, "FREE", "99999999", ic_number=FIRST)
    assert said == (
        "account 99999999 does not belong to extras.ic_number 900101145678; it has account 1029384756, 837465920"
    )


def test_the_options_of_a_list_that_is_the_same_for_all_are_named_without_an_identity(client: Client) -> None:
    assert pay(client, "FIXED", "11111111", subproduct_code="C")[1].endswith("FIXED has no option C; it has A, B")
    _, said = pay(client, "FIXED", "22222222", subproduct_code="A")
    assert said == "account 22222222 does not belong to option A of FIXED; it has account 11111111"
    _, said = pay(client, "FIXED", "11111111", subproduct_code="B")
    assert said == "account 11111111 does not belong to option B of FIXED"


def test_an_option_of_the_default_loan_that_an_identity_does_not_have_is_not_called_unknown(client: Client) -> None:
    _, said = pay(client, "STUDENTLOAN", "1029384756", ic_number=FIRST, subproduct_code="U")
    assert said == (
        "extras.subproduct_code: STUDENTLOAN has no option U for extras.ic_number 900101145678; it has K, SP"
    )


def test_a_plan_that_is_not_offered_to_an_account_is_listed_beside_the_offered_plans(client: Client) -> None:
    for account in (f"01{n:08}" for n in range(1000, 1010)):
        items = client.call("GET", f"/v2/options?product_code=DATA&field_id=plan&account_number={account}").json[
            "items"
        ]
        mine = [item["code"] for item in items]
        said = diagnosis(client, topup(client, DATA | code("D20L") | {"account": account, "amount": "21"}))
        if "D20L" in mine:
            assert said == "amount of D20L is 20, not 21"
        else:
            listed = said.removeprefix(f"extras.subproduct_code: DATA has no option D20L for account {account}; ")
            assert listed == f"it has {', '.join(mine)}"


def test_the_amounts_of_plans_are_the_amounts_offered_to_this_account(client: Client) -> None:
    said = diagnosis(client, topup(client, DATA | {"amount": "7"}))
    assert said.startswith("DATA sells ")
    assert said.endswith(" to account 0123456789; 7 is not among them")
