"""The sections voids, disputes, bills and network, and what products say of their bills: read, merged, refused."""

from datetime import timedelta
from decimal import Decimal

import pytest

from simulator.domain.model.bills import BillError, BillField, BillRefused
from simulator.domain.model.schedule import NetworkStatus
from tests.support.bad_scenarios import PLAIN_PRODUCT, SECTION_MISTAKES
from tests.support.readings import built, places


def test_rules_of_each_section_come_before_inherited_rules() -> None:
    made = built(
        "extends: default\n"
        "voids: [{name: mine, then: {status: Failed}}]\n"
        "disputes: [{name: also mine, then: {status: Failed}}]\n"
        "bills: [{id: mine-3, then: {error: unavailable}}]\n"
    )
    assert [rule.label for rule in made.voids] == ["mine", "void approved"]
    assert [rule.label for rule in made.disputes] == ["also mine", "dispute taken"]
    assert [rule.id for rule in made.bills] == ["mine-3"]
    assert [rule.id for rule in made.voids] == ["voids-1", "voids-2"]


@pytest.mark.parametrize(
    ("then", "is_accepted", "refund_after", "refused_after"),
    [
        ("{status: Success}", True, timedelta(seconds=60), None),
        ("{status: Success, refund_after: 0s}", True, timedelta(0), None),
        ("{status: Success, refund_after: 3d}", True, timedelta(days=3), None),
        ("{status: Success, refused_after: 5s}", True, None, timedelta(seconds=5)),
        ("{status: Failed}", False, None, None),
    ],
)
def test_how_a_void_ends(
    then: str, is_accepted: bool, refund_after: timedelta | None, refused_after: timedelta | None
) -> None:
    [rule] = built(f"voids: [{{then: {then}}}]\n").voids
    made = rule.then
    assert (made.is_accepted, made.refund_after, made.refused_after) == (is_accepted, refund_after, refused_after)


def test_a_bill_has_null_for_missing_members_and_omits_generated_members() -> None:
    [rule] = built("bills: [{then: {bill: {Outstanding: 12.50, Address: null, E-Bill: null}}}]\n").bills
    assert rule.then.changes == {"outstanding": Decimal("12.50"), "address": None, "e_bill": None}
    assert rule.then.refused is None


@pytest.mark.parametrize(
    ("then", "refused"),
    [
        ("{error: invalid_account}", BillRefused(BillError.ACCOUNT)),
        ("{error: On holiday, error_message: Later}", BillRefused("On holiday", "Later")),
    ],
)
def test_an_error_is_known_by_its_name_or_is_the_text_itself(then: str, refused: BillRefused) -> None:
    [rule] = built(f"bills: [{{then: {then}}}]\n").bills
    assert rule.then.refused == refused


def test_network_is_one_status_or_several_over_time_and_merged_by_product() -> None:
    made = built("extends: default\nnetwork: {WATER: [{at: 1m, status: Interruption}, {at: 1m, status: Healthy}]}\n")
    assert dict(made.network) == {
        "FP": ((timedelta(0), NetworkStatus.INTERRUPTION),),
        "WATER": (
            (timedelta(minutes=1), NetworkStatus.INTERRUPTION),
            (timedelta(minutes=1), NetworkStatus.HEALTHY),
        ),
    }


def test_the_bill_profile_and_its_defaults() -> None:
    whole = built(
        PLAIN_PRODUCT
        + "      bill: {biller_name: B, returns: [Data], outstanding: {min: 1, max: 2.50}, custom_field: x}\n"
    )
    profile = whole.catalog.products["P"].bill
    assert profile is not None
    assert (profile.biller_name, profile.returned, profile.custom_field) == ("B", frozenset({BillField.DATA}), "x")
    assert (profile.lowest, profile.highest) == (Decimal(1), Decimal("2.50"))
    little = built(PLAIN_PRODUCT + "      bill: {}\n").catalog.products["P"].bill
    assert little is not None
    assert little.returned == {BillField.CUSTOMER, BillField.OUTSTANDING, BillField.ADDRESS, BillField.DUE_DATE}
    assert (little.lowest, little.highest, little.custom_field) == (Decimal(20), Decimal(400), None)
    assert built(PLAIN_PRODUCT).catalog.products["P"].bill is None


@pytest.mark.parametrize(("text", "expected"), SECTION_MISTAKES)
def test_a_mistake_is_reported_with_its_position(text: str, expected: str) -> None:
    assert places(text) == [expected]
