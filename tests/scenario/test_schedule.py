"""A schedule with impossible changes is refused when it is read."""

from typing import Any

from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.nodes import ScenarioError

ADDED = {"rule": {"add": {"payments": {"name": "x", "id": "y", "then": [{"status": "Failed"}]}}}}


def problems(*items: dict[str, Any], **keys: Any) -> list[str]:
    try:
        scenario_from_object({"scenario": "test", "extends": "default", "schedule": list(items)} | keys)
    except ScenarioError as error:
        return [one.message for one in error.problems]
    return []


def removed(at: str, label: str = "x") -> dict[str, Any]:
    return {"at": at, "rule": {"remove": label}}


def test_a_rule_that_the_schedule_adds_may_be_removed_at_any_time() -> None:
    for label in ("x", "y"):
        assert problems({"at": "10m"} | ADDED, removed("1d", label)) == []
        assert problems(removed("12:10", label), {"at": "11m"} | ADDED) == []


def test_a_rule_that_exists_from_the_start_may_be_removed_and_added_again() -> None:
    own = [{"name": "x", "then": [{"status": "Failed"}]}]
    again = {"at": "20m", "rule": {"add": {"payments": own[0]}}}
    assert problems(removed("10m"), again, payments=own) == []


def test_a_key_of_another_reseller_cannot_be_scheduled() -> None:
    others = [{"code": "RS002", "api_keys": [{"key": "theirs", "secret": "YW5vdGhlci1zZWNyZXQtb2YtMzItYnl0ZXM="}]}]
    for code, expected in (("RS001", ["API key 'theirs' belongs to reseller 'RS002'"]), ("RS002", [])):
        item = {"at": "1m", "api_key": {"reseller": code, "key": "theirs", "state": "revoked"}}
        assert problems(item, resellers=others) == expected
