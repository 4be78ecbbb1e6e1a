"""The secrets of a sandbox: current and replaced secrets."""

import pytest

from simulator.domain.model import resellers
from simulator.domain.model.resellers import SecretLog


def test_each_new_secret_counts_as_a_version_and_each_replaced_one_as_a_replacement() -> None:
    log = SecretLog()
    log.add("a")
    log.add("a")  # another holder
    log.add("b", replaced="a")
    assert (sorted(log), len(log), log.version, log.replacements) == (["a", "b"], 2, 2, 1)
    assert list(log.former) == ["a"]


@pytest.mark.parametrize(("secret", "replaced"), [("a", "a"), ("", ""), ("", "unknown")])
def test_rotation_without_another_secret_changes_nothing(secret: str, replaced: str) -> None:
    log = SecretLog()
    log.add("a")
    log.add(secret, replaced)
    assert (list(log), log.version, log.replacements, list(log.former)) == (["a"], 1, 0, [])


def test_the_latest_10000_replaced_secrets_are_kept() -> None:
    assert resellers.FORMER_MAX == 10_000


def test_a_secret_may_be_removed() -> None:
    log = SecretLog()
    log.add("a")
    log.add("", replaced="a")
    assert (list(log), log.version, log.replacements, list(log.former)) == (["a"], 1, 1, ["a"])


def test_the_oldest_former_secret_is_dropped_unless_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resellers, "FORMER_MAX", 2)
    log = SecretLog()
    for secret in ("kept", "kept", "a", "b"):
        log.add(secret)
    for secret in ("kept", "a"):
        log.add("", replaced=secret)
    assert list(log.former) == ["a", "kept"], "as many as may be remembered"
    log.add("", replaced="b")
    assert list(log.former) == ["b", "a"]
    assert "kept" in log, "one of its two holders has it still"
    log.add("c", replaced="kept")
    assert "a" not in log


def test_a_restored_log_continues() -> None:
    log, other = SecretLog(), SecretLog()
    log.add("a")
    log.add("b", replaced="a")
    other.restore(log.holders, reversed(log.former), log.version, log.replacements)
    for each in (log, other):
        each.add("c", replaced="b")
    assert (list(other), list(other.former)) == (list(log), list(log.former)) == (["a", "b", "c"], ["b", "a"])
    assert (other.version, other.replacements) == (3, 2)
