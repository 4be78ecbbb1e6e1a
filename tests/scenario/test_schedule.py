"""What a schedule can never carry out is refused when it is read."""

from typing import Any

import pytest

from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.document import ScenarioError

ADDED = {"rule": {"add": {"payments": {"name": "x", "id": "y", "then": [{"status": "Failed"}]}}}}
KNOWN_START = {"clock": {"mode": "manual", "start": "2026-11-21T12:00:00+08:00"}}


def problems(*items: dict[str, Any], **keys: Any) -> list[str]:
    try:
        scenario_from_object({"scenario": "test", "extends": "default", "schedule": list(items)} | keys)
    except ScenarioError as error:
        return [one.message for one in error.problems]
    return []


def removed(at: str, label: str = "x") -> dict[str, Any]:
    return {"at": at, "rule": {"remove": label}}


@pytest.mark.parametrize(
    ("remove", "add", "keys"),
    [
        ("10m", "20m", {}),
        ("10m", "10m", {}),
        ("12:10", "12:20", KNOWN_START),
        ("23:00", "11:00", KNOWN_START),
        ("12:10", "11m", KNOWN_START),
        ("9m", "12:10", KNOWN_START),
    ],
)
@pytest.mark.parametrize("label", ["x", "y"])
def test_a_rule_that_is_removed_before_it_is_added_is_a_problem(
    remove: str, add: str, keys: dict[str, Any], label: str
) -> None:
    [text] = problems(removed(remove, label), {"at": add} | ADDED, **keys)
    assert text.startswith(f"there is no rule {label!r} by then; it is added ")
    assert problems({"at": add} | ADDED, removed("1d", label), **keys) == []


@pytest.mark.parametrize(
    ("remove", "add", "keys"),
    [
        ("20m", "10m", {}),
        ("11:00", "23:00", KNOWN_START),
        ("12:10", "12:20", {}),
        ("12:10", "11m", {}),
        ("9m", "12:10", {}),
    ],
)
def test_one_that_may_be_there_by_then_is_none(remove: str, add: str, keys: dict[str, Any]) -> None:
    assert problems(removed(remove), {"at": add} | ADDED, **keys) == []


def test_a_rule_that_one_of_several_additions_precedes_may_be_removed() -> None:
    added = {"rule": {"add": {"payments": {"name": "x", "then": [{"status": "Failed"}]}}}}
    assert problems({"at": "1m"} | added, removed("2m"), {"at": "3m"} | added) == []


def test_one_that_is_there_from_the_start_may_be_removed_and_added_again() -> None:
    own = [{"name": "x", "then": [{"status": "Failed"}]}]
    again = {"at": "20m", "rule": {"add": {"payments": own[0]}}}
    assert problems(removed("10m"), again, payments=own) == []


def test_a_key_of_another_reseller_cannot_be_scheduled() -> None:
    others = [{"code": "RS002", "api_keys": [{"key": "theirs", "secret": "YW5vdGhlci1zZWNyZXQtb2YtMzItYnl0ZXM="}]}]
    for code, expected in (("RS001", ["API key 'theirs' belongs to reseller 'RS002'"]), ("RS002", [])):
        item = {"at": "1m", "api_key": {"reseller": code, "key": "theirs", "state": "revoked"}}
        assert problems(item, resellers=others) == expected
