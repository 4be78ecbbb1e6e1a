"""Encoded bodies are kept within bounds."""

from simulator.api.paging import BodyCache


def test_bodies_are_bounded_in_number() -> None:
    kept = BodyCache(entries_max=2)
    for key in "abc":
        kept.put(key, None, b"1")
    assert [kept.get(key) for key in "abc"] == [None, None, b"1"]


def test_bodies_are_bounded_by_their_bytes() -> None:
    kept = BodyCache(bytes_max=10)
    for key in range(3):
        kept.put(key, None, b"1234")
    assert [kept.get(key) for key in range(3)] == [None, None, b"1234"]
    kept.put("huge", None, b"x" * 11)
    assert (kept.get("huge"), kept.get(2)) == (None, None)
    kept.put("next", None, b"1234567890")
    assert kept.get("next") == b"1234567890", "a body beyond the bound leaves no trace"
