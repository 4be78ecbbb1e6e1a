"""Explanations of refusals in the header and in the journal, an example of each (SPEC 4.10 to 4.13)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.cases import CHECK, PAID, VOID, pay_bill, trxid_of
from tests.support.client import Client, Response, running
from tests.support.diagnoses import DATA, code, diagnosis, topup

IC = "900101145678"
RELOAD = {"product": "RELOAD", "account": "0123456789", "amount": "10"}
ELECTRIC = {"product": "ELECTRIC", "account": "210012345678", "amount": "100"}
INTERBANK = {
    "product": "INTERBANK",
    "account": "12345678",
    "amount": "25.50",
    "extras": {"biller_code": "1001", "ic_number": IC},
}
LOAN = {
    "product": "STUDENTLOAN",
    "account": "1029384756",
    "amount": "50",
    "extras": {"subproduct_code": "K", "ic_number": IC},
}
MANY = {
    "code": "MANY",
    "name": "Many",
    "image_url": "https://images.example.com/many.png",
    "processing_time": "instant",
    "discount": {"type": "percentage", "value": 1},
    "fields": [
        {"id": "amount", "role": "pricing", "type": "select", "label": "Amount", "options": list(range(100, 200))}
    ],
}


def extras(**changes: Any) -> dict[str, Any]:
    return {"extras": {name: value for name, value in (INTERBANK["extras"] | changes).items() if value is not ...}}  # type: ignore[operator]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running(PAID | {"catalog": {"products": [MANY]}, "resellers": [{"code": "RS001", "balance": "2000"}]}) as made:
        yield made


PATTERN = "^01[0-9]{8,9}$"
PHONE = f"account must match {PATTERN} (A mobile number is 01 and 8 or 9 digits more)"
REFUSED: list[tuple[int, dict[str, Any], str]] = [
    (40, ELECTRIC | {"amount": "9999.99"}, "the wallet has 2000.00, this payment costs 9999.69"),
    (41, RELOAD | {"product": "RELOADX"}, "no product RELOADX; did you mean RELOAD?"),
    (41, RELOAD | {"product": "reload"}, "no product reload; did you mean RELOAD?"),
    (41, RELOAD | {"product": "NOTHING-LIKE-IT"}, "no product NOTHING-LIKE-IT"),
    (41, RELOAD | {"product": "RETIRED"}, "product RETIRED is inactive"),
    (41, RELOAD | {"product": "  "}, "product is blank"),
    (42, RELOAD | {"account": "012345"}, PHONE),
    (42, RELOAD | {"account": ""}, PHONE.replace("account", "account is empty; it", 1)),
    (42, RELOAD | {"product": "GIFTCARD", "account": ""}, "account is empty"),
    (
        42,
        LOAN | {"account": "9999999999"},
        f"account 9999999999 does not belong to option K of extras.ic_number {IC}; it",
    ),
    (43, INTERBANK | extras(ic_number=...), "extras.ic_number is missing, INTERBANK requires it"),
    (43, INTERBANK | {"extras": None}, "extras.biller_code is missing, INTERBANK requires it"),
    (43, INTERBANK | extras(biller_code="1004"), "extras.ref2 is missing, biller 1004 requires it"),
    (43, INTERBANK | extras(biller_code=1001), "extras.biller_code must be a string"),
    (
        43,
        INTERBANK | extras(ic_number="900101-14"),
        "extras.ic_number must match ^[A-Za-z0-9]{5,20}$ (An identity number without dashes, or a passport number)",
    ),
    (43, INTERBANK | extras(biller_code="10O1"), "INTERBANK has no option 10O1; did you mean 10"),
    (43, INTERBANK | extras(biller_code="1045"), "extras.biller_code: option 1045 is inactive"),
    (
        43,
        INTERBANK | extras(biller_code=..., billercode="1001"),
        "extras.biller_code is missing, INTERBANK requires it; "
        "INTERBANK has no extras.billercode, ignored; did you mean extras.biller_code?",
    ),
    (58, RELOAD | {"amount": "7"}, "RELOAD sells 5, 10, 20, 30, 50, 100; 7 is not among them"),
    (
        58,
        RELOAD | {"product": "MANY", "amount": "150.5"},
        "MANY sells 146, 147, 148, 149, 150, 151, 152, 153, 154, 155 and 90 others; 150.50 is not among them",
    ),
    (58, RELOAD | {"amount": "ten"}, 'amount "ten" is not a decimal number such as 10.50'),
    (58, RELOAD | {"amount": ""}, 'amount "" is not a decimal number such as 10.50'),
    (58, RELOAD | {"amount": "9" * 60}, f'amount "{"9" * 60}" has more than 15 digits before the point or 8 after it'),
    (58, RELOAD | {"amount": "1e400"}, 'amount "1e400" has more than 15 digits before the point or 8 after it'),
    (58, RELOAD | {"amount": 10**16}, f"amount {10**16} has more than 15 digits before the point or 8 after it"),
    (58, ELECTRIC | {"amount": "-5"}, "amount must be above 0; -5 is not"),
    (58, ELECTRIC | {"amount": "10.005"}, "amount 10.005 has more than two decimals"),
    (58, ELECTRIC | {"amount": "0.5"}, "amount must be at least 1; 0.50 is less"),
    (58, ELECTRIC | {"amount": "10000.01"}, "amount must be at most 10000; 10000.01 is more"),
    (58, INTERBANK | extras(biller_code="1005") | {"amount": "5"}, "amount must be at least 10 for biller 1005; 5 is"),
    (58, RELOAD | {"product": "PARKING", "amount": "1.5"}, "PARKING accepts whole amounts only; 1.50 is not one"),
    (58, RELOAD | {"product": "PARKING", "amount": "201"}, "amount must be at most 200; 201 is more"),
    (58, DATA | {"amount": "5.20"}, "5.20 is D5's price.amount; send its denomination 5"),
    (58, DATA | {"amount": "10.20"}, "D10W's price.amount; send its denomination 10 and extras.subproduct_code D10W"),
    (58, RELOAD | {"product": "GAME", "amount": 4.5}, "4.50 is GAME-100's price.amount; send its denomination 100"),
    (44, DATA | {"amount": "30.20"} | code("D30"), "30.20 is D30's price.amount; send its denomination 30"),
    (44, DATA | {"amount": "7"} | code("D30"), "amount of D30 is 30, not 7"),
    (
        44,
        DATA | code("D10X"),
        "extras.subproduct_code: DATA has no option D10X for account 0123456789; did you mean D10",
    ),
    (44, DATA | code("D15"), "extras.subproduct_code: option D15 is inactive"),
    (
        44,
        DATA | {"extras": {"subproduct_cod": "D10W"}},
        "; DATA has no extras.subproduct_cod, ignored; did you mean extras.subproduct_code?",
    ),
    (44, DATA | {"subproduct_code": "D10W"}, "subproduct_code is unknown and was ignored; did you mean extras."),
    (44, DATA, "10 is the amount of D10W, D10M, D10N; send one of them as extras.subproduct_code"),
    (40, ELECTRIC | {"amount": "9999"} | code("X"), "costs 9998.70; ELECTRIC has no extras.subproduct_code, ignored"),
    (45, RELOAD | {"refid": 7}, "refid must be a string of 1 to 50 characters"),
    (45, RELOAD | {"remarks": "r" * 10_001}, "remarks must be a string of at most 10000 characters"),
]


@pytest.mark.parametrize(("status", "body", "said"), REFUSED, ids=lambda one: str(one)[:60])
def test_a_refused_payment_says_what_would_have_been_right(
    client: Client, status: int, body: dict[str, Any], said: str
) -> None:
    answer = topup(client, body)
    assert (answer.status, answer.data["statusCode"]) == (400, status)
    assert said in diagnosis(client, answer)


@pytest.mark.parametrize(("zeros", "status"), [(97, 200), (98, 400), (200, 400)])
def test_the_length_of_an_amount_counts_alike_as_a_string_and_as_a_number(
    client: Client, zeros: int, status: int
) -> None:
    for spelling in ('"10.{}"', "10.{}"):
        written = spelling.format("0" * zeros)
        head = f'"refid": "{zeros}{len(written)}", "product": "RELOAD", "account": "0123456789"'
        answer = client.call("POST", "/v2/topup", raw(head, f'"amount": {written}'))
        assert answer.status == status
        said = diagnosis(client, answer)
        assert said == "" if status == 200 else said.endswith("has more than 15 digits before the point or 8 after it")


def test_the_price_of_an_option_among_thousands_is_found() -> None:
    every = [{"code": f"N{n}", "label": str(n), "denomination": n} for n in range(1, 4001)]
    field = MANY["fields"][0] | {"options": every}  # type: ignore[index]
    adjusted = {"price_adjustment": {"type": "percentage", "value": 1.5}, "denomination_unit_price": 0.045}
    with running({"catalog": {"products": [MANY | {"fields": [field]} | adjusted]}}) as client:
        said = "67.50 is N1000's price.amount; send its denomination 1000"
        assert diagnosis(client, topup(client, RELOAD | {"product": "MANY", "amount": "67.5"})) == said
        said = " and 3990 others; 0.01 is not among them"
        assert said in diagnosis(client, topup(client, RELOAD | {"product": "MANY", "amount": "0.01"}))


def test_no_product_is_suggested_that_is_inactive_for_this_reseller() -> None:
    overlay = {"GAME": {"is_active": False}, "WATER": {"is_active": False}, "RETIRED": {"is_active": True}}
    with running({"resellers": [{"code": "RS001", "catalog": overlay}]}) as client:
        assert diagnosis(client, topup(client, RELOAD | {"product": "GAMES"})) == "no product GAMES"
        said = "no product RETIRE; did you mean RETIRED?"
        assert diagnosis(client, topup(client, RELOAD | {"product": "RETIRE"})) == said
        bill = "/v2/bill-presentment?account=1234567890&product="
        assert diagnosis(client, client.call("GET", bill + "WATERS")) == "no product WATERS"
        said = "RELOAD has no bill presentment; products with bills: ELECTRIC, INTERBANK"
        assert diagnosis(client, client.call("GET", bill + "RELOAD")) == said


def test_a_plan_that_is_not_offered_to_the_account_is_named(client: Client) -> None:
    answers = [topup(client, DATA | code("D20L") | {"account": f"01{n:08}", "amount": "21"}) for n in range(1000, 1008)]
    said = {answer.headers["x-sim-diagnosis"] for answer in answers}
    assert any(one.startswith("extras.subproduct_code: DATA has no option D20L for account 01") for one in said)
    assert "amount of D20L is 20, not 21" in said


def test_a_valid_payment_has_no_diagnosis(client: Client) -> None:
    for _ in range(2):
        answer = topup(client, RELOAD | {"refid": "good", "remarks": None, "extras": None})
        assert answer.status == 200
        assert diagnosis(client, answer) == ""


IGNORED = [
    (code("X"), "RELOAD has no extras.subproduct_code, ignored"),
    ({" remarks": "x"}, "' remarks' is unknown and was ignored; did you mean remarks?"),
    ({"remark": "x"}, "remark is unknown and was ignored; did you mean remarks?"),
    ({"extras": {f"x{n:02}": "1" for n in range(20)}}, "extras.x10, extras.x11, 8 more, ignored"),
    ({f"z{n}": 1 for n in range(9)}, "z4 is unknown and was ignored; and 4 more that are unknown"),
    (
        {"zx": 1, "x": 1, "yx": 1},
        "x is unknown and was ignored; yx is unknown and was ignored; zx is unknown",
    ),
    ({"": "1"}, "a member without a name is unknown and was ignored"),
    (
        {"subproduct_code": "x"} | code("X"),
        "RELOAD has no extras.subproduct_code, ignored; subproduct_code is unknown",
    ),
]


@pytest.mark.parametrize(("more", "said"), IGNORED)
def test_members_that_a_payment_ignores_are_noted(client: Client, more: dict[str, Any], said: str) -> None:
    answer = topup(client, RELOAD | {"refid": said[:50]} | more)
    assert answer.status == 200
    assert said in diagnosis(client, answer)


# Ignored `extras`: their payment, their name, and the likely name.
BESIDE_EXTRAS = [
    (INTERBANK | extras(biller_code=...), "biller_code", "extras.biller_code"),
    (INTERBANK | extras(ic_number=...), "IC_NUMBER", "extras.ic_number"),
    (INTERBANK | extras(ic_number=...), "icnumber", "extras.ic_number"),
    (INTERBANK, "ref2", "extras.ref2"),
    (INTERBANK | extras(ref2="A-1"), "ref2", ""),
    (INTERBANK, "Refid", ""),
    (DATA, "subproduct_code", "extras.subproduct_code"),
    (RELOAD, "biller_code", ""),
    (RELOAD, "subproduct_code", ""),
    (RELOAD, "Extras", ""),
    (DATA, "Extras", "extras"),
    (RELOAD | {"product": "nothing"}, "ref2", "extras.ref2"),
]


@pytest.mark.parametrize(("payment", "name", "meant"), BESIDE_EXTRAS)
def test_a_suggested_member_is_one_that_the_product_takes_and_that_was_not_sent(
    client: Client, payment: dict[str, Any], name: str, meant: str
) -> None:
    said = diagnosis(client, topup(client, payment | {name: "1"}))
    assert f"{name} is unknown and was ignored{f'; did you mean {meant}?' if meant else ''}" in said
    assert ("did you mean extras" in said) is bool(meant)


def test_an_extra_that_was_sent_is_not_suggested(client: Client) -> None:
    said = diagnosis(client, topup(client, INTERBANK | {"refid": "ref_2"} | extras(Biller_Code="1001", ref_2="1")))
    assert "INTERBANK has no extras.Biller_Code, extras.ref_2, ignored; did you mean extras.ref2?" in said


def raw(*members: str) -> bytes:
    return f"{{{', '.join(members)}}}".encode()


REPEATED = [
    (('"amount": 10', '"amount": "20"'), "amount was sent 2 times; the last one counts"),
    (('"amount": 5', '"remarks": "a:b"', '"amount": 5', '"amount": 20'), "amount was sent 3 times"),
    (('"amount": 20', '"extras": {"a": 1, "a": 2}'), "a was sent 2 times; the last one counts"),
    (
        ('"amount": 20', *(f'"{name}": 1, "{name}": 1' for name in "abcdefg")),
        "; and 2 more that were sent several times",
    ),
]


@pytest.mark.parametrize(("members", "said"), REPEATED)
def test_a_repeated_member_is_noted(client: Client, members: tuple[str, ...], said: str) -> None:
    body = raw(f'"refid": "{said[:50]}"', '"product": "RELOAD", "account": "0123456789"', *members)
    answer = client.call("POST", "/v2/topup", body)
    assert (answer.status, answer.data["amount"]) == (200, 20)
    assert said in diagnosis(client, answer)


def test_colons_in_texts_are_not_repeated_members(client: Client) -> None:
    answer = topup(client, RELOAD | {"refid": "colons", "remarks": "at 12:30:00 :::"})
    assert (answer.status, diagnosis(client, answer)) == (200, "")


REQUERIES = [
    ({"amount": "20"}, "refid order-2 exists with amount 10; the original was returned"),
    ({"amount": "ten"}, "refid order-2 exists with amount 10; the original was returned"),
    ({"amount": "1e1"}, ""),
    ({"product": "DATA"}, "refid order-2 exists with product RELOAD; the original was returned"),
    (
        {"account": "", "amount": 5},
        "refid order-2 exists with account 0123456789 and amount 10; the original was returned",
    ),
    (code("X"), "RELOAD has no extras.subproduct_code, ignored"),
    ({"remarks": "mine"}, "refid order-2 exists with remarks (none); the original was returned"),
]


@pytest.mark.parametrize(("changes", "said"), REQUERIES)
def test_a_requery_with_other_parameters_says_what_the_original_has(
    client: Client, changes: dict[str, Any], said: str
) -> None:
    assert topup(client, RELOAD | {"refid": "order-2"}).status == 200
    answer = topup(client, RELOAD | {"refid": "order-2"} | changes)
    assert answer.status == 200
    assert diagnosis(client, answer) == said


def test_an_empty_extra_is_as_if_absent_for_idempotency() -> None:
    body = INTERBANK | {"refid": "bank-1"}
    with running({"assume": {"refid-reused-with-other-parameters": "reject"}}) as client:
        for first, second in ((body, body | extras(ref2="")), (body | extras(ref2="", x=""), body)):
            for sent in (first, second):
                answer = topup(client, sent | {"refid": f"bank-{len(first['extras'])}"})
                assert answer.status == 200
            assert "exists" not in diagnosis(client, answer)
        assert topup(client, body | extras(ref2="A-1") | {"refid": "bank-2"}).data["statusCode"] == 46


def test_a_refid_that_is_refused_with_other_parameters_says_what_the_original_has() -> None:
    with running({"assume": {"refid-reused-with-other-parameters": "reject"}}) as client:
        assert client.pay("order-2").status == 200
        answer = client.pay("order-2", "20")
        assert answer.data["statusCode"] == 46
        assert diagnosis(client, answer) == "refid order-2 exists with amount 10; send that again, or a new refid"
        assert client.pay("order-2", "1e1", remarks="other").status == 200


def test_extras_that_a_scenario_rejects_are_named() -> None:
    with running({"assume": {"unsupported-extras": "reject"}}) as client:
        assert diagnosis(client, client.pay(extras={"b": "1", "a": "2"})) == "RELOAD has no extras.a, extras.b"
        assert client.pay(extras={"b": None}).status == 200


def test_a_value_that_is_cut_ends_in_three_dots(client: Client) -> None:
    long = diagnosis(client, topup(client, RELOAD | {"refid": "long", "amount": "x" * 100}))
    assert long == f'amount "{"x" * 99}... is not a decimal number such as 10.50'
    unknown = diagnosis(client, topup(client, RELOAD | {"refid": "cut", "y" * 200: 1}))
    assert f"{'y' * 100}... is unknown" in unknown
    answer = client.call("GET", "/v2/balance", headers={"X-API-Version": "v" * 200})
    assert f"X-API-Version '{'v' * 100}...' is not a date of the form" in diagnosis(client, answer)
    answer = client.call("POST", "/v2/topup", RELOAD | {"refid": "t"}, headers={"Content-Type": "text/" + "t" * 100})
    assert f"was sent as text/{'t' * 95}..., but must be application/json" in diagnosis(client, answer)
    answer = client.call("GET", f"/v2/networkstatus?{'n' * 200}=%")
    assert f"{'n' * 60}... has a %" in diagnosis(client, answer)


NEAR_PATHS = [
    ("/v2/nothing", ""),
    ("/v2/topups", "/v2/topup"),
    ("/v1/topup", "/v2/topup"),
    ("/topup", "/v2/topup"),
    ("/v2/Topup", "/v2/topup"),
    ("/v2/topup/", "/v2/topup"),
    ("/v2/network-status", "/v2/networkstatus"),
    ("/v2/interbank/billers", "/v1/interbank/billers"),
    ("/v2", ""),
    ("/favicon.ico", ""),
]


@pytest.mark.parametrize(("path", "meant"), NEAR_PATHS)
def test_an_unknown_path_suggests_only_one_that_is_really_near(client: Client, path: str, meant: str) -> None:
    answer = client.call("GET", path)
    hint = f" Did you mean {meant}?" if meant else ""
    assert (answer.status, answer.json["message"]) == (404, f"There is no such path.{hint}")
    suggested = f"; did you mean {meant}?" if meant else ""
    assert diagnosis(client, answer) == f"the service has no such path{suggested}"


@pytest.mark.parametrize("path", ["/sim/health", "/_simm", "/s/default/_sim/health"])
def test_a_path_near_the_control_api_leads_there(client: Client, path: str) -> None:
    answer = client.call("GET", path)
    assert (answer.status, answer.json["message"]) == (404, "There is no such path. The control API is below /_sim/.")
    assert diagnosis(client, answer) == "the control API is below /_sim of the server, without a sandbox before it"


def test_a_method_that_a_path_lacks_is_named_with_the_methods_that_it_has(client: Client) -> None:
    answer = client.call("PATCH", "/v2/callback-url")
    assert (answer.status, diagnosis(client, answer)) == (405, "the path has another method; use GET, POST")


def test_a_sandbox_that_does_not_exist_is_named_in_the_journal(client: Client) -> None:
    answer = client.call("GET", "/v2/balance", sandbox="nobody")
    said = "there is no sandbox 'nobody'; GET /_sim/sandboxes lists them"
    assert (answer.status, diagnosis(client, answer)) == (404, said)
    (row,) = client.sim("GET", "/sandboxes/default/requests?error=unknown_sandbox").json["requests"]
    assert (row["path"], row["diagnosis"]) == ("/s/nobody/v2/balance", said)


def test_a_rule_that_refuses_is_named() -> None:
    rules: dict[str, Any] = {
        "payments": [{"name": "no money", "times": 1, "then": {"refuse": "Insufficient_Balance"}}, *PAID["payments"]],
        "voids": [{"name": "no void", "then": {"status": "Failed"}}],
        "bills": [{"name": "no bill", "then": {"error": "On holiday"}}],
    }
    with running(rules) as client:
        assert diagnosis(client, client.pay()) == "the rule no money refused it"
        pay_bill(client)
        assert (
            diagnosis(client, client.call("POST", VOID, {"refid": "ref-1", "refund_type": 1}))
            == "the rule no void refused it"
        )
        assert diagnosis(client, look_up(client, account="210012345678")) == "the rule no bill refused it"


def look_up(client: Client, **query: str) -> Response:
    return client.call("GET", f"/v2/bill-presentment?{urlencode({'product': 'ELECTRIC'} | query)}")


BILLS = [
    ({"product": "ELECTRICS", "account": "1"}, "no product ELECTRICS; did you mean ELECTRIC?"),
    ({"product": "RETIRD", "account": "1"}, "no product RETIRD"),
    ({"product": "RETIRED", "account": "1"}, "product RETIRED is inactive"),
    (
        {"product": "RELOAD", "account": "1"},
        "; products with bills: ELECTRIC, WATER, INTERBANK",
    ),
    ({"account": "123"}, "account must match ^[0-9]{12}$ (An account number has 12 digits)"),
    ({"product": "INTERBANK", "account": "12345"}, "biller_code is missing, INTERBANK requires it"),
    ({"product": "INTERBANK", "account": "12345", "biller_code": "1045"}, "biller_code: option 1045 is inactive"),
    ({"product": "INTERBANK", "account": "12345", "biller_code": "100l"}, "INTERBANK has no option 100l; did you mean"),
    ({"product": "INTERBANK", "account": "12345", "biller_code": "1004"}, "ref2 is missing, biller 1004 requires it"),
    ({"account": "210012345678", "amount": "ten"}, 'amount "ten" is not a decimal number such as 10.50'),
    ({"account": "210012345678", "amount": "0.999"}, "amount 0.999 has more than two decimals"),
    ({"account": "210012345678", "amount": "0.99"}, "amount must be at least 1; 0.99 is less"),
    ({"account": ""}, "account must be a string of 1 to 100 characters"),
]


@pytest.mark.parametrize(("query", "said"), BILLS)
def test_a_refused_look_up_says_what_would_have_been_right(client: Client, query: dict[str, str], said: str) -> None:
    answer = look_up(client, **query)
    assert answer.status == 400
    assert said in diagnosis(client, answer)


def test_a_network_of_no_product_says_which_was_meant(client: Client) -> None:
    answer = client.call("GET", "/v2/networkstatus?product=electrics")
    assert answer.status == 400
    assert diagnosis(client, answer).startswith("no product electrics; did you mean ELECTRIC?")


def test_a_biller_that_a_look_up_ignores_is_noted(client: Client) -> None:
    answer = look_up(client, account="210012345678", biller_code="1001", ref2="A")
    assert (answer.status, diagnosis(client, answer)) == (200, "ELECTRIC has no billers: biller_code, ref2 ignored")


@pytest.fixture
def paid() -> Iterator[Client]:
    second = {
        "code": "RS002",
        "balance": "1000.00",
        "api_keys": [{"key": "test_key_RS002", "secret": "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMTE="}],
    }
    slow = {"when": {"refid": "slow"}, "then": [{"status": "Processing"}]}
    failed = {"when": {"refid": "failed"}, "then": [{"status": "Failed"}]}
    with running({"resellers": [second], "payments": [slow, failed, *PAID["payments"]]}) as made:
        for refid in ("ref-1", "slow", "failed"):
            pay_bill(made, refid)
        made.pay("reload")
        made.pay("foreign", key="test_key_RS002", secret="bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMTE=")
        yield made


LEAVES_NONE = "; a payment that was refused with 400 creates none"
CASES: list[tuple[str, dict[str, Any], str]] = [
    (VOID, {"refid": "reload"}, "RELOAD is not voidable; voidable: ELECTRIC, WATER, INTERBANK"),
    (VOID, {"refid": "slow"}, "transaction {slow} is Processing; only Succesful transactions can be voided"),
    (CHECK, {"refid": "failed"}, "transaction {failed} is Failed; only Succesful transactions can be disputed"),
    (VOID, {"refid": "nothing"}, "no transaction has refid nothing" + LEAVES_NONE),
    (VOID, {"refid": "REF-1"}, "no transaction has refid REF-1; did you mean ref-1?" + LEAVES_NONE),
    (CHECK, {"trxid": "123"}, "no transaction has trxid 123" + LEAVES_NONE),
    (CHECK, {"trxid": "ref-1"}, "ref-1 is a refid; send it as refid"),
    (CHECK, {"refid": "{ref-1}"}, "{ref-1} is a trxid; send it as trxid"),
    (CHECK, {"trxid": "{foreign}"}, "transaction {foreign} belongs to reseller RS002, not to RS001"),
    (VOID, {}, "the request needs refid or trxid"),
    (VOID, {"refid": "", "trxid": ""}, "the request needs refid or trxid"),
    (VOID, {"refid": "ref-1", "refund_type": 3, "refund_reason": None}, "refund_reason is required"),
    (VOID, {"refid": "ref-1", "refund_type": "1"}, "refund_type must be the number 1, 2 or 3"),
]


@pytest.mark.parametrize(("path", "body", "said"), CASES)
def test_a_refused_case_says_what_would_have_been_right(
    paid: Client, path: str, body: dict[str, Any], said: str
) -> None:
    ids = {refid: trxid_of(paid, refid) for refid in ("slow", "failed", "ref-1", "foreign")}
    filled = {name: value.format_map(ids) if isinstance(value, str) else value for name, value in body.items()}
    answer = paid.call("POST", path, {"refund_type": 1} | filled if path == VOID else filled)
    assert (answer.status, answer.json.get("data", {}).get("status", "Failed")) in ((400, "Failed"), (200, "Failed"))
    assert diagnosis(paid, answer).startswith(said.format_map(ids))
    if answer.status == 400 and not body.keys() & {"refund_reason", "refund_type"}:
        assert list(answer.json["errors"]) == ["trxid"]


def test_the_refusal_of_a_second_case_names_the_first(paid: Client) -> None:
    trxid = trxid_of(paid, "ref-1")
    void = {"refid": "ref-1", "refund_type": 1}
    assert diagnosis(paid, paid.call("POST", VOID, void)) == ""
    said = f"transaction {trxid} already has a void, case-1, which is approved"
    assert diagnosis(paid, paid.call("POST", VOID, void)) == said
    paid.advance(60)
    said = f"transaction {trxid} is Refund; only Succesful transactions can be disputed"
    assert diagnosis(paid, paid.call("POST", CHECK, {"refid": "ref-1"})) == said


def test_members_that_a_case_ignores_are_noted(paid: Client) -> None:
    body = {"refid": "reload", "trxid": trxid_of(paid, "ref-1"), "email": ["a@example.com"]}
    said = diagnosis(paid, paid.call("POST", CHECK, body))
    assert "trxid takes precedence: refid reload was ignored, the transaction has refid ref-1" in said
    assert "email is unknown and was ignored; did you mean user_email?" in said


MISSPELT = [
    ("/v2/topup", {"refId": "a"}, "refId is unknown and was ignored; did you mean refid?"),
    ("/v2/topup", {"product_code": "RELOAD"}, "product_code is unknown and was ignored; did you mean product?"),
    (VOID, {"Refid": "a", "refund_type": 1}, "Refid is unknown and was ignored; did you mean refid?"),
    (CHECK, {"trx_id": "a"}, "trx_id is unknown and was ignored; did you mean trxid?"),
]


@pytest.mark.parametrize(("path", "body", "said"), MISSPELT)
def test_a_missing_member_that_was_misspelt_is_suggested(
    paid: Client, path: str, body: dict[str, Any], said: str
) -> None:
    answer = paid.call("POST", path, body)
    assert answer.status == 400
    assert said in diagnosis(paid, answer)


SAID_ONCE: list[tuple[str, bytes, str]] = [
    (VOID, b"{}", "refund_type is required; the request needs refid or trxid"),
    (CHECK, b"{}", "the request needs refid or trxid"),
    (VOID, b'{"refid": 5, "refund_type": 1}', "refid must be a string of at most 50 characters"),
    (CHECK, b'{"refid": "none"}', "no transaction has refid none" + LEAVES_NONE),
    (VOID, b"[]", "body is not a JSON object"),
    ("/v2/topup", b"x", "body is not valid JSON: invalid character (byte 0)"),
]


@pytest.mark.parametrize(("path", "body", "said"), SAID_ONCE)
def test_a_refusal_says_a_thing_once(paid: Client, path: str, body: bytes, said: str) -> None:
    answer = paid.call("POST", path, body)
    assert (answer.status, diagnosis(paid, answer)) == (400, said)


def test_a_dispute_says_which_members_of_a_void_it_ignores(paid: Client) -> None:
    answer = paid.call("POST", CHECK, {"refid": "ref-1", "refund_type": 1})
    assert (answer.status, diagnosis(paid, answer)) == (200, "refund_type is unknown and was ignored")


def test_a_repeated_reference_is_noted(paid: Client) -> None:
    answer = paid.call("POST", VOID, b'{"refid": "slow", "refid": "ref-1", "refund_type": 1}')
    assert answer.data["refid"] == "ref-1"
    assert diagnosis(paid, answer) == "refid was sent 2 times; the last one counts"


WEBHOOK = "/v2/balance-webhook"
ELSEWHERE: list[tuple[str, str, dict[str, Any], str]] = [
    ("PUT", WEBHOOK, {"url": "inbox:w", "URI": "x"}, "URI is unknown and was ignored"),
    ("PUT", WEBHOOK, {"Url": "inbox:w"}, "url is required; Url is unknown and was ignored; did you mean url?"),
    ("PATCH", f"{WEBHOOK}/enabled", {"enabled": True, "now": 1}, "now is unknown and was ignored"),
    (
        "POST",
        f"{WEBHOOK}/deliveries/replay-bulk",
        {"jobids": ["a"]},
        "jobids is unknown and was ignored; did you",
    ),
    ("POST", "/v2/token", {"username": "x", "password": "y", "otp": "1"}, "was ignored; known: username, password"),
    ("POST", "/v2/token", {"username": "x", "passwrod": "y"}, "was ignored; did you mean password?"),
    ("POST", "/v2/token/refresh", {"refreshToken": "x"}, "was ignored; did you mean refresh_token?"),
]


@pytest.mark.parametrize(("method", "path", "body", "said"), ELSEWHERE)
def test_ignored_members_of_other_bodies_are_noted(
    client: Client, method: str, path: str, body: dict[str, Any], said: str
) -> None:
    assert said in client.call(method, path, body).headers["x-sim-diagnosis"]
    assert said in client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]["diagnosis"]


def test_names_that_may_be_the_rest_of_a_password_are_not_quoted(client: Client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    for query, body in ((b"", b"username=x&password=p&ssw0rd=:"), (b"password=p&ssw0rd", b"username=x&password=p")):
        answer = client.send("POST", "/v2/token", query.decode(), body, form)
        assert answer.status == 401
        said = answer.headers["x-sim-diagnosis"]
        newest = client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]
        assert "ssw0rd" not in said + newest["diagnosis"]
        assert "ignored; known: username, password" in said or "the members belong in the body" in said


@pytest.mark.parametrize("content", [b'{"p&ssw0rd": "x", "username": "x"}', b'{"p&ssw0rd": 1, "p&ssw0rd": 2}'])
def test_names_that_may_be_a_password_are_not_shown_for_json_either(client: Client, content: bytes) -> None:
    said = diagnosis(client, client.send("POST", "/v2/token", "", content))
    assert "an unknown member was ignored; did you mean password?" in said
    assert "ssw0rd" not in said


def test_a_member_of_a_form_that_came_twice_is_refused_for_that(client: Client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = client.send("POST", "/v2/token", "", b"username=a&username=b&x=1&x=2&password=p", form)
    assert (answer.status, answer.json["errors"]) == (400, {"username": ["was sent 2 times"]})
    answer = client.send("POST", "/v2/token", "", b'{"username": ["a", "b"], "password": "p"}')
    assert answer.json["errors"] == {"username": ["must be a string of 1 to 4096 characters"]}


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\u3000"])
def test_a_blank_extra_is_as_if_absent(client: Client, blank: str) -> None:
    bank = INTERBANK | {"refid": f"blank {blank!r}"}
    for sent in (bank | extras(ref2=blank, other=blank), bank, bank | extras(ref2=blank) | {"remarks": blank}):
        answer = topup(client, sent)
        assert (answer.status, answer.data["remarks"], diagnosis(client, answer)) == (200, "", "")
    for name in ("ic_number", "biller_code"):
        answer = topup(client, INTERBANK | {"refid": "blank"} | extras(**{name: blank}))
        assert diagnosis(client, answer) == f"extras.{name} is missing, INTERBANK requires it"
    plan = DATA | {"refid": f"plan {blank!r}", "amount": "30"}
    assert diagnosis(client, topup(client, plan | code(blank))) == diagnosis(client, topup(client, plan)) == ""


def test_a_blank_text_instead_of_an_object_or_a_list_is_refused(paid: Client) -> None:
    assert diagnosis(paid, topup(paid, RELOAD | {"extras": ""})) == "extras must be an object of at most 50 members"
    assert "user_email must be a list" in diagnosis(
        paid, paid.call("POST", CHECK, {"refid": "ref-1", "user_email": " "})
    )


@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_blank_reference_of_a_case_is_as_if_absent(paid: Client, blank: str) -> None:
    both = {"refid": blank, "trxid": blank}
    assert diagnosis(paid, paid.call("POST", CHECK, both)).endswith("the request needs refid or trxid")
    by_refid = paid.call("POST", CHECK, {"refid": "nothing", "trxid": blank})
    assert diagnosis(paid, by_refid) == "no transaction has refid nothing" + LEAVES_NONE
    why = {"refid": "ref-1", "refund_type": 3, "refund_reason": blank}
    assert diagnosis(paid, paid.call("POST", VOID, why)) == "refund_reason is required"


def limited(**more: Any) -> dict[str, Any]:
    field = MANY["fields"][0] | {"options": [10, 20, 50, 100]}  # type: ignore[index]
    limits = {"min_amount": 20, "max_amount": 50}
    return {"catalog": {"products": [MANY | {"code": "LIM", "fields": [field]} | limits | more]}}


CIRCLES = [
    ({}, "10", "amount must be at least 20; 10 is less"),
    ({}, "100", "amount must be at most 50; 100 is more"),
    ({}, "25", "LIM sells 20, 50; 25 is not among them"),
    (
        {"price_adjustment": {"type": "fixed", "value": 15, "currency": "MYR"}},
        "25",
        "LIM sells 20, 50; 25 is not among them",
    ),
    (
        {"price_adjustment": {"type": "fixed", "value": 15, "currency": "MYR"}},
        "35",
        "35.00 is LIM-20's price.amount; send its denomination 20",
    ),
]


@pytest.mark.parametrize("choice", ["refused", "taken"])
@pytest.mark.parametrize(("more", "amount", "said"), CIRCLES)
def test_the_advice_of_a_diagnosis_is_accepted(more: dict[str, Any], amount: str, said: str, choice: str) -> None:
    with running(limited(**more) | {"assume": {"price-amount": choice}}) as client:
        answer = topup(client, RELOAD | {"product": "LIM", "amount": amount})
        if choice == "taken" and "price.amount" in said:
            assert (answer.status, answer.data["amount"]) == (200, 20)
        else:
            assert (answer.data["statusCode"], diagnosis(client, answer)) == (58, said)


def test_an_accepted_price_and_an_ignored_extra_are_both_noted() -> None:
    with running({"assume": {"price-amount": "taken"}}) as client:
        said = diagnosis(client, topup(client, DATA | {"amount": "5.20", "extras": {"x": "1"}}))
    assert said.endswith("was accepted as its denomination 5; DATA has no extras.x, ignored")
