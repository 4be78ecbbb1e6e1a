"""Encoded bodies are kept within bounds."""

from simulator.api.paging import BodyCache


def test_the_least_recently_used_body_is_dropped() -> None:
    kept = BodyCache(entries_max=2)
    kept.put("a", None, b"1")
    kept.put("b", None, b"2")
    assert kept.get("a") == b"1"
    kept.put("c", None, b"3")
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (b"1", None, b"3")


def test_bodies_are_bounded_by_their_bytes() -> None:
    kept = BodyCache(bytes_max=10)
    for key in range(5):
        kept.put(key, None, b"1234")
    assert [kept.get(key) for key in range(5)] == [None, None, None, b"1234", b"1234"]
    kept.put("huge", None, b"x" * 11)
    assert kept.get("huge") is None
    kept.put("next", None, b"1234")
    assert kept.get("next") == b"1234", "a body beyond the bound leaves no trace"
