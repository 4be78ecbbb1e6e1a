"""Entries that are queued until a commit, and entries that are refused at once, so that no commit fails for them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.persistence.errors import NoSandbox
from simulator.persistence.maintenance import check
from simulator.persistence.store import Store
from simulator.persistence.writer import Writer
from tests.support.stores import VERSION, append, fill, held, held_of, put_mark


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", version=VERSION)


@pytest.fixture(autouse=True)
def closed(store: Store) -> object:
    yield
    store.close()


def test_each_life_begins_empty(store: Store) -> None:
    fill(store, "shop")
    store.writer.new_life("shop", b"again")
    assert append(store.writer, "shop", 7, b"first") == 1
    store.commit()
    assert held(store) == {
        "shop": {
            "head": b"again", "floor": 0, "entries": [(1, 7, b"first")], "marks": {}, "snapshots": []
        }
    }  # fmt: skip


def test_entries_are_encoded_at_the_commit_in_the_order_of_all_writes(store: Store) -> None:
    life = store.writer.new_life("shop", b"head")
    store.commit()
    encoded: list[int] = []

    def entry(number: int) -> Callable[[], bytes]:
        return lambda: encoded.append(number) or b"entry %d" % number  # type: ignore[func-returns-value]

    assert [store.writer.append(life, number, entry(number)) for number in (1, 2)] == [1, 2]
    assert encoded == []
    snapshot = store.writer.begin_snapshot("shop")
    assert (encoded, life.bytes_up_to) == ([1, 2], 14)
    snapshot.complete()
    store.writer.append(life, 3, entry(3))
    append(store.writer, "shop", 4, b"entry 4")
    store.writer.drop_mark("shop", "none")
    store.writer.append(life, 5, entry(5))
    store.commit()
    found = held_of(store, "shop")
    assert found["entries"] == [(n, n, b"entry %d" % n) for n in (1, 2, 3, 4, 5)]
    assert encoded == [1, 2, 3, 5]
    assert life.bytes_up_to == 35
    assert check(store.folder).problems == []


def test_a_sandbox_can_leave_and_return_in_a_commit(store: Store) -> None:
    for _ in range(3):
        store.writer.new_life("shop", b"head")
        append(store.writer, "shop", 1, b"gone")
        put_mark(store, "shop", "gone")
        store.writer.begin_snapshot("shop").complete()
        store.writer.forget("shop")
    store.writer.new_life("shop", b"head")
    store.commit()
    found = held_of(store, "shop")
    assert (found["entries"], found["marks"], found["snapshots"]) == ([], {}, [])


@pytest.mark.parametrize("ends", [Writer.forget, lambda writing, name: writing.new_life(name, b"{}")])
def test_a_snapshot_of_an_ended_life_is_not_written(store: Store, ends: Callable[[Writer, str], object]) -> None:
    store.writer.new_life("shop", b"{}")
    writer = store.writer.begin_snapshot("shop")
    writer.put("first", b"1")
    store.commit()
    ends(store.writer, "shop")
    for number in range(5):
        store.commit()
        writer.put(f"later {number}", b"2")
    writer.complete()
    while not store.is_swept:
        store.commit()
    store.close()
    assert check(store.folder).problems == []


def test_a_snapshot_exists_when_it_is_complete(store: Store) -> None:
    store.writer.new_life("shop", b"")
    first = store.writer.begin_snapshot("shop")
    first.put("a", b"first")
    store.commit()
    second = store.writer.begin_snapshot("shop")
    second.put("a", b"second")
    store.commit()
    first.put("b", b"ignored")
    first.complete()
    store.commit()
    assert store.reader.life("shop").snapshots == []
    second.put("b", b"second")
    second.complete()
    store.commit()
    (found,) = store.reader.life("shop").snapshots
    assert dict(store.reader.parts(found)) == {"a": b"second", "b": b"second"}


@pytest.mark.parametrize(
    "use",
    [
        lambda store: append(store.writer, "none", 0, b""),
        lambda store: store.writer.drop_mark("none", "here"),
        lambda store: store.writer.forget("none"),
        lambda store: store.writer.begin_snapshot("none"),
        lambda store: store.reader.life("none"),
        lambda store: next(store.reader.entries("none")),
        lambda store: store.reader.marks("none"),
    ],
)
def test_a_sandbox_that_is_not_there_is_no_sandbox(store: Store, use: Callable[[Store], object]) -> None:
    with pytest.raises(NoSandbox, match="the store has no sandbox 'none'"):
        use(store)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda store: store.writer.new_life("\ud800", b""), "surrogates not allowed"),
        (lambda store: put_mark(store, "shop", "\ud800"), "surrogates not allowed"),
    ],
)
def test_a_name_that_is_no_text_is_refused_at_once(store: Store, use: Callable[[Store], object], text: str) -> None:
    store.writer.new_life("shop", b"")
    with pytest.raises(ValueError, match=text):
        use(store)
    store.commit()
    assert list(held(store)) == ["shop"]


@pytest.mark.slow
def test_entries_are_read_in_slices_from_anywhere(store: Store) -> None:
    store.writer.new_life("shop", b"")
    for number in range(1, 1401):
        append(store.writer, "shop", number, b"z" * (9 if number % 300 else 3_000_000))
    store.commit()
    for begin in (1, 2, 512, 513, 1400, 1401):
        assert [n for n, *_ in store.reader.entries("shop", begin)] == list(range(begin, 1401))
