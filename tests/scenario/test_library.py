"""The bundled scenarios, and how scenarios are found."""

import sys
from decimal import Decimal
from pathlib import Path

import pytest

from simulator.domain.model import pricing
from simulator.domain.model.money import ZERO
from simulator.domain.model.resellers import KeyState
from simulator.domain.model.scenario import Scenario
from simulator.domain.model.transactions import Status
from simulator.scenario import library
from simulator.scenario.reading import sources
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.value_reader import secret_bytes


@pytest.fixture(scope="module")
def default() -> Scenario:
    return library.load_scenario("default")


def test_the_default_scenario_is_named_first() -> None:
    assert library.names()[0] == "default"
    assert {"slow-provider", "provider-failures", "lost-callbacks", "bad-network", "difficult-billers"} <= set(
        library.names()
    )


@pytest.mark.parametrize("name", library.names())
def test_every_bundled_scenario_loads_and_has_a_description(name: str) -> None:
    assert library.problems(library.bundled_path(name)) == []
    scenario = library.load_scenario(name)
    assert scenario.description == library.descriptions()[name]
    assert 20 <= len(scenario.description) <= 120
    first, _, rest = library.text(name).partition("\n")
    assert first == "# yaml-language-server: $schema=../contracts/scenario.schema.json"
    assert (library.bundled_path(name).parent / first.partition("=")[2]).is_file()
    assert rest


@pytest.mark.parametrize("name", library.names())
def test_every_bundled_scenario_is_built_on_the_default_one(name: str) -> None:
    assert [reseller.code for reseller in library.load_scenario(name).resellers] == ["RS001"]
    assert library.load_scenario(name).payments[-1].name == "ordinary"


def test_a_bundled_scenario_is_built_once(default: Scenario) -> None:
    assert library.load_scenario("default") is default
    assert library.load_scenario("slow-provider") is library.load_scenario("slow-provider")


def test_scenarios_that_only_inherit_a_catalog_share_it(default: Scenario, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: slow-provider\n")
    rules = [{"then": [{"status": "Failed"}]}]
    for scenario in (
        library.load_scenario(path),
        library.scenario_from_object({"extends": "default", "payments": rules}),
    ):
        assert scenario.catalog is default.catalog
    own = library.scenario_from_object({"extends": "default", "catalog": {}})
    assert own.catalog is not default.catalog
    assert list(own.catalog.products) == list(default.catalog.products)


def test_the_default_scenario_loads_fast() -> None:
    """Counted in calls of functions, which no busy machine makes more: 44,000 take about 30 ms."""
    library.load_scenario("default")
    library._bundled.cache_clear()
    sources._bundled.cache_clear()
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        library.load_scenario("default")
    finally:
        sys.setprofile(before)
    assert 1_000 < calls < 70_000


def test_the_default_reseller(default: Scenario) -> None:
    [reseller] = default.resellers
    assert (reseller.code, reseller.balance) == ("RS001", Decimal("5000.00"))
    assert sorted(key.state for key in reseller.keys) == sorted(KeyState)
    assert len(secret_bytes(reseller.keys[0].secret)) == 32
    assert (reseller.callback.url, reseller.callback.method) == ("inbox:callbacks", "POST")
    assert len(reseller.users) == 1


ACCOUNTS: list[tuple[str, list[str], list[str]]] = [
    ("RELOAD", ["0123456789", "01234567890"], ["012345678", "012345678901", "0223456789", "01234abcde", ""]),
    ("ELECTRIC", ["123456789012"], ["12345678901", "1234567890123", "12345678901a"]),
    ("WATER", ["1234567890"], ["123456789", "12345678901"]),
    ("FP", ["0123456789"], ["123"]),
]


@pytest.mark.parametrize(("code", "good", "bad"), ACCOUNTS)
def test_the_accounts_of_the_default_products(default: Scenario, code: str, good: list[str], bad: list[str]) -> None:
    field = default.catalog.products[code].account
    assert field is not None
    assert field.accepts is not None
    assert [field.accepts(account) for account in good] == [True] * len(good)
    assert [field.accepts(account) for account in bad] == [False] * len(bad)


DENOMINATIONS = [
    ("RELOAD", [5, 10, 20, 30, 50, 100]),
    ("GIFTCARD", [25, 50, 100]),
]


@pytest.mark.parametrize(("code", "sold"), DENOMINATIONS)
def test_the_denominations_of_the_default_products(default: Scenario, code: str, sold: list[int]) -> None:
    assert [option.denomination for option in default.catalog.products[code].options["amount"]] == sold


@pytest.mark.parametrize("code", ["ELECTRIC", "WATER"])
def test_bills_take_any_amount_and_can_be_voided(default: Scenario, code: str) -> None:
    product = default.catalog.products[code]
    field = product.pricing
    assert field is not None
    assert (field.type, field.minimum, field.maximum) == ("money", Decimal("1.00"), Decimal("10000.00"))
    assert product.voidable


def test_the_default_catalog_has_a_product_of_every_kind(default: Scenario) -> None:
    products = default.catalog.products
    assert not products["RETIRED"].is_active
    assert products["GIFTCARD"].account is None
    assert set(products["GIFTCARD"].fulfilled.texts) >= {"sn", "pin"}
    assert "voucherlink" in products["VOUCHER"].fulfilled.texts
    assert {product.discount.type for product in products.values()} == {"percentage", "fixed"}
    assert any(product.price_adjustment for product in products.values())
    assert any(len(group.categories) > 1 for group in default.catalog.groups)
    shelved = {code for group in default.catalog.groups for shelf in group.categories for code in shelf.product_codes}
    assert shelved == set(products)
    assert [code for code, product in products.items() if pricing.has_loss_risk(product)] == ["VOUCHER"]
    assert all(pricing.cost(product, Decimal(100)) > ZERO for product in products.values())


def test_an_ordinary_payment_succeeds_after_five_seconds(default: Scenario) -> None:
    [rule] = default.payments
    assert (rule.name, rule.when({})) == ("ordinary", True)
    steps = [(step.status, step.after and step.after.seconds) for step in rule.then.steps]
    assert steps == [(Status.ACCEPTED, None), (Status.PROCESSING, 2), (Status.SUCCESSFUL, 5)]


def test_a_scenario_is_found_by_name_or_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: slow-provider\n")
    for wanted in (path, str(path)):
        assert library.load_scenario(wanted).name == "mine"
    assert library.scenario_from_object({"extends": "default"}).name == "inline"


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    for seed in (1, 2):
        path.write_text(f"seed: {seed}\n")
        assert library.load_scenario(path).seed == seed


def test_an_unknown_scenario_gets_a_suggestion() -> None:
    for find in (library.load_scenario, library.text):
        with pytest.raises(ScenarioError, match=r"slow_provider.*\(did you mean 'slow-provider'\?\)"):
            find("slow_provider")
    with pytest.raises(ScenarioError, match="no_file"):
        library.load_scenario("nowhere/x.yaml")


@pytest.mark.parametrize("value", [None, [], "default", 5, {"extends": 5}, {"extends": None}, {"catalog": []}, {"": 1}])
def test_anything_else_than_a_scenario_object_is_refused(value: object) -> None:
    with pytest.raises(ScenarioError):
        library.scenario_from_object(value)
