"""The sections voids, disputes, bills and network, and what products say of their bills: read, merged, refused."""

from datetime import timedelta
from decimal import Decimal

import pytest

from simulator.domain.model.bills import BillError, BillField, BillRefused
from simulator.domain.model.network import NetworkStatus
from tests.support.readings import built, places

PRODUCT = "catalog:\n  products:\n    - code: P\n      name: P\n      processing_time: instant\n"
PRODUCT += "      discount: {type: fixed, value: 0}\n"


def test_rules_of_each_section_come_before_the_inherited_ones() -> None:
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


def test_a_bill_has_null_for_missing_members_and_omits_generated_ones() -> None:
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
        PRODUCT + "      bill: {biller_name: B, returns: [Data], outstanding: {min: 1, max: 2.50}, custom_field: x}\n"
    )
    profile = whole.catalog.products["P"].bill
    assert profile is not None
    assert (profile.biller_name, profile.returned, profile.custom_field) == ("B", frozenset({BillField.DATA}), "x")
    assert (profile.lowest, profile.highest) == (Decimal(1), Decimal("2.50"))
    little = built(PRODUCT + "      bill: {}\n").catalog.products["P"].bill
    assert little is not None
    assert little.returned == {BillField.CUSTOMER, BillField.OUTSTANDING, BillField.ADDRESS, BillField.DUE_DATE}
    assert (little.lowest, little.highest, little.custom_field) == (Decimal(20), Decimal(400), None)
    assert built(PRODUCT).catalog.products["P"].bill is None


MISTAKES = [
    ("voids: {}\n", "1:8: type"),
    ("voids: [{}]\n", "1:9: missing_key"),
    ("voids: [{then: {status: Approved}}]\n", "1:25: unknown_value"),
    ("voids: [{then: {status: Failed, refund_after: 1s}}]\n", "1:33: misplaced"),
    ("voids: [{then: {status: Success, refund_after: soon}}]\n", "1:48: bad_duration"),
    ("voids: [{then: {status: Success, refund_after: 1s, refused_after: 1s}}]\n", "1:52: misplaced"),
    ("voids: [{then: {status: Success, message: '{sn}'}}]\n", "1:43: bad_template"),
    ("voids: [{when: {refund_reason: x}, then: {status: Success}}]\n", "1:17: unknown_key"),
    ("voids: [{when: {product: NONE}, then: {status: Success}}]\n", "1:26: unknown_product"),
    ("voids: [{when: {reseller: NONE}, then: {status: Success}}]\n", "1:27: unknown_reseller"),
    ("disputes: [{when: {amount: ten}, then: {status: Success}}]\n", "1:28: bad_amount"),
    ("disputes: [{when: {refid: {pattern: '('}}, then: {status: Success}}]\n", "1:37: bad_pattern"),
    ("disputes: [{when: {refund_type: 1}, then: {status: Success}}]\n", "1:20: unknown_key"),
    ("bills: [{then: {}}]\n", "1:16: missing_key"),
    ("bills: [{then: {bill: {Name: x}}}]\n", "1:24: unknown_key"),
    ("bills: [{then: {bill: {Outstanding: much}}}]\n", "1:37: bad_amount"),
    ("bills: [{then: {bill: {transaction_validity: 1}}}]\n", "1:46: type"),
    ("bills: [{then: {error: a, bill: {}}}]\n", "1:17: misplaced"),
    ("bills: [{then: {error_message: a, bill: {}}}]\n", "1:17: misplaced"),
    ("bills: [{then: {error: a}, name: b}, {then: {error: a}, name: b}]\n", "1:63: duplicate"),
    ("voids: [{name: b, then: {status: Failed}}]\nbills: [{then: {error: a}, name: b}]\n", "2:34: duplicate"),
    ("inboxes: [a]\n", "1:10: type"),
    ("inboxes: {a b: [{status: 500}]}\n", "1:11: bad_inbox_name"),
    ("inboxes: {a: []}\n", "1:14: out_of_range"),
    ("inboxes: {a: [{status: 100}]}\n", "1:24: out_of_range"),
    ("inboxes: {a: [{status: 204, body: x}]}\n", "1:35: misplaced"),
    ("inboxes: {a: [{delay: 301s}]}\n", "1:23: out_of_range"),
    ("inboxes: {a: [{stattus: 200}]}\n", "1:16: unknown_key"),
    ("network: [FP]\n", "1:10: type"),
    ("extends: default\nnetwork: {FB: Interruption}\n", "2:11: unknown_product"),
    ("extends: default\nnetwork: {FP: Down}\n", "2:15: bad_network"),
    ("extends: default\nnetwork: {FP: []}\n", "2:15: out_of_range"),
    ("extends: default\nnetwork: {FP: [{at: 1s}]}\n", "2:16: missing_key"),
    ("extends: default\nnetwork: {FP: [{at: 1s, status: Down}]}\n", "2:33: unknown_value"),
    (
        "extends: default\nnetwork: {FP: [{at: 2s, status: Healthy}, {at: 1s, status: Healthy}]}\n",
        "2:48: timeline",
    ),
    (PRODUCT + "      bill: yes please\n", "7:13: type"),
    (PRODUCT + "      bill: {returns: [Name]}\n", "7:24: unknown_value"),
    (PRODUCT + "      bill: {outstanding: {min: 5, max: 4}}\n", "7:27: out_of_range"),
    (PRODUCT + "      bill: {outstanding: {min: 1.001}}\n", "7:33: bad_amount"),
    (PRODUCT + "      bill: {biller_field: biller}\n", "7:14: unknown_key"),
]


@pytest.mark.parametrize(("text", "expected"), MISTAKES)
def test_a_mistake_is_reported_with_its_position(text: str, expected: str) -> None:
    assert places(text) == [expected]
