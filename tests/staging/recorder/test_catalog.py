"""The catalog of a recording gives equal answers for every part that was seen, in either shape."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from simulator.scenario.library import load_scenario
from tests.support.catalog_answers import answers
from tests.support.client import Client, running
from tests.support.traffic import Ask, Step, Traffic, checked, get, pay, play

ACCOUNT = str(Path(__file__).parent.parent / "importer" / "account.yaml")
RECORDED = ("/v2/catalog", "/v2/options", "/v2/networkstatus")
ACCOUNTS = {"DATA": ["0123456789", "0198765432"], "STUDENTLOAN": ["900101145678", "850505105555"]}


def everything(client: Client, *, newer: bool = True, limit: int = 7) -> list[Step]:
    """All that a client may ask about the catalog, in pages."""
    steps: list[Step] = [get("/v2/catalog?include_inactive=true", newer=newer)]
    catalog = client.call("GET", "/v2/catalog?include_inactive=true").json
    for body in catalog["products"].values():
        code = body["code"]
        steps.append(get(f"/v2/networkstatus?product={code}"))
        for form in [one for one in body["fields"] if one["type"] == "select"]:
            is_dynamic = form["data_source"]["type"] == "dynamic"
            for number in ACCOUNTS.get(code, []) if is_dynamic else [""]:
                for active in ("true",) if is_dynamic else ("true", "false"):
                    query = {"product_code": code, "field_id": form["id"], "is_active": active, "limit": limit}
                    more = {"include_inactive": "true"} | ({"account_number": number} if number else {})
                    steps += [
                        get(f"/v2/options?{urlencode(query | more | {'page': page})}", newer=newer)
                        for page in range(1, 40)
                    ]
    return steps


def seen_of(scenario: Any, *steps: Step, **options: Any) -> str:
    with running(scenario) as client:
        return play(client, steps).recorded(**options)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a client that asked for everything."""
    with running(ACCOUNT) as client:
        seen = play(client, everything(client, limit=50))
    return checked(seen.recorded(), tmp_path_factory.mktemp("record"), "foreign_currency")


@pytest.mark.slow
def test_every_answer_about_the_catalog_is_the_same(recorded: str) -> None:
    with running(ACCOUNT) as theirs, running(recorded) as ours:
        wanted, found = (
            {target: body for target, body in answers(one, ACCOUNTS).items() if target.startswith(RECORDED)}
            for one in (theirs, ours)
        )
    assert len(wanted) > 100
    assert {target: body for target, body in found.items() if body != wanted[target]} == {}
    assert list(found) == list(wanted)


@pytest.mark.slow
def test_the_file_has_no_other_differences(recorded: str) -> None:
    named = [line.strip() for line in Path(recorded).read_text().splitlines() if "the account has" in line]
    assert named == []


@pytest.mark.slow
def test_answers_in_the_older_shape_are_enough(tmp_path: Path) -> None:
    with running("default") as theirs:
        paid = pay("d", "DATA", 10, "0123456789", extras={"subproduct_code": "D10W"})
        seen = play(theirs, [*everything(theirs, newer=False, limit=100), paid])
        assert seen.answers[-1].status == 200
        assert "fulfillment.amount: the account has" not in seen.recorded()
        with running(checked(seen.recorded(), tmp_path)) as ours:
            for target in ("/v2/catalog?include_inactive=true", "/v2/options?product_code=RELOAD&field_id=amount"):
                for headers in ({}, {"X-API-Version": "2026-09-16"}):
                    wanted = theirs.call("GET", target, headers=headers).json
                    found = ours.call("GET", target, headers=headers).json
                    for code, product in wanted.get("products", {}).items():
                        if code != "STUDENTLOAN":  # only its payments would have shown its plan codes
                            assert found["products"][code] == product
                    assert found.get("items") == wanted.get("items")


def test_pages_are_put_together_in_their_order() -> None:
    page = "/v2/options?product_code=RELOAD&field_id=amount&limit=2&page="
    text = seen_of("default", get("/v2/catalog"), get(page + "2"), get(page + "1"))
    assert text.index("RELOAD-5") < text.index("RELOAD-10") < text.index("RELOAD-20")


def test_options_that_were_not_queried_come_from_payments(tmp_path: Path) -> None:
    text = seen_of("default", get("/v2/catalog"), pay("a", amount="10"), pay("b", amount="30"))
    assert "# options of amount were not seen; these come from payments" in text
    products = load_scenario(checked(text, tmp_path)).catalog.products
    assert [str(one.denomination) for one in products["RELOAD"].options["amount"]] == ["10", "30"]


def test_amounts_that_were_refused_for_another_reason_are_options_too(tmp_path: Path) -> None:
    """Otherwise the recording refuses them as amounts that are not sold."""
    bad = {"when": {"amount": 20}, "then": {"refuse": "Invalid_Account"}}
    scenario = {"resellers": [{"code": "RS001", "balance": "30"}], "payments": [bad]}
    steps = [get("/v2/balance"), get("/v2/catalog"), pay("a", amount="20"), pay("b", amount="50"), pay("c", amount="7")]
    path = checked(seen_of(scenario, *steps), tmp_path)
    with running(path) as ours:
        remarks = [ours.pay(amount, amount).data["remarks"] for amount in ("20", "50", "7")]
    assert remarks == ["Invalid_Account", "Insufficient_Balance", "Invalid_Denomination"]


def test_accounts_are_named_only_where_they_are_not_offered_the_same() -> None:
    targets = [f"/v2/options?product_code=DATA&field_id=plan&account_number={n}" for n in ("0123456789", "0123456780")]
    with running("default") as client:
        catalog = get("/v2/catalog")
        same = play(client, [catalog, get(targets[0]), get(targets[0] + "&limit=100")]).recorded()
        numbers = [f"01234567{n}" for n in range(10, 40)]
        lists = {
            n: client.call("GET", f"/v2/options?product_code=DATA&field_id=plan&account_number={n}").body
            for n in numbers
        }
        other = next(n for n in numbers if lists[n] != lists[numbers[0]])
        both = [get(f"/v2/options?product_code=DATA&field_id=plan&account_number={n}") for n in (numbers[0], other)]
        seen: Traffic = play(client, [catalog, *both])
    assert "options_for" not in same
    assert "# options of plan depend on an account number; these come from all 1 that were seen" in same
    assert f'"{other}"' in seen.recorded()
    hidden = seen.recorded(names_accounts=False)
    assert other not in hidden
    assert "these come from most" in hidden


def test_a_product_that_was_only_paid_is_hidden_and_takes_anything(tmp_path: Path) -> None:
    steps = [get("/v2/catalog?product_code=RELOAD"), pay("a", "ELECTRIC", "37.20", "210012345678"), 10]
    path = checked(seen_of("default", *steps), tmp_path)
    assert "# no catalog had this product: it takes any account and any amount" in Path(path).read_text()
    with running("default") as theirs, running(path) as ours:
        wanted = theirs.pay("a", "37.20", "ELECTRIC", account="210012345678").data
        found = ours.pay("a", "37.20", "ELECTRIC", account="210012345678").data
        assert {name for name in wanted if wanted[name] != found[name]} <= {"balance", "cost"}
        assert abs(wanted["cost"] - found["cost"]) <= 0.01
        assert list(ours.call("GET", "/v2/catalog").json["products"]) == ["RELOAD"]


def test_the_latest_answer_counts() -> None:
    with running("default") as client:
        first = play(client, [get("/v2/catalog")])
        client.sim("PATCH", "/sandboxes/default/catalog/products/RELOAD", {"name": "Reload Plus"})
        second = play(client, [1, get("/v2/catalog")])
    text = Traffic(first.calls + second.calls).recorded()
    assert "name: Reload Plus" in text


def test_the_network_changes_when_it_did(tmp_path: Path) -> None:
    ask = Ask("GET", "/v2/networkstatus?product=RELOAD")
    with running(
        {"network": {"RELOAD": [{"at": "60s", "status": "Interruption"}, {"at": "90s", "status": "Healthy"}]}}
    ) as client:
        seen = play(client, [get("/v2/catalog"), ask, 60, ask, 20, ask, 10, ask])
    with running(checked(seen.recorded(), tmp_path)) as ours:
        again = play(ours, [ask, 60, ask, 20, ask, 10, ask])
    assert [one.data["network_status"] for one in again.answers] == [
        one.data["network_status"] for one in seen.answers[1:]
    ]
