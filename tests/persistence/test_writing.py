"""What is listed until a commit, and what of it is refused at once, so that no commit fails for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.persistence.checking import check
from simulator.persistence.errors import NoSandbox
from simulator.persistence.layout import BLOB_BYTES_MAX
from simulator.persistence.store import Store
from simulator.persistence.writing import Writing, digest_of
from tests.support.stores import VERSION, fill, held, held_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", version=VERSION)


@pytest.fixture(autouse=True)
def closed(store: Store) -> object:
    yield
    store.close()


def test_lives_are_counted_and_each_begins_empty(store: Store) -> None:
    fill(store, "shop")
    assert store.writing.new_life("shop", b"again") == 2
    assert store.writing.append("shop", 7, b"first") == 1
    store.commit()
    assert held(store) == {
        "shop": {
            "life": 2, "head": b"again", "floor": 0, "entries": [(1, 7, b"first")], "marks": {}, "snapshots": []
        }
    }  # fmt: skip
    store.writing.forget("shop")
    assert store.writing.new_life("shop", b"") == 1


def test_a_sandbox_can_go_and_come_in_one_commit(store: Store) -> None:
    for _ in range(3):
        store.writing.new_life("shop", b"head")
        store.writing.append("shop", 1, b"gone")
        store.writing.put_mark("shop", "gone")
        store.writing.begin_snapshot("shop").complete()
        store.writing.forget("shop")
    store.writing.new_life("shop", b"head")
    store.commit()
    found = held_of(store, "shop")
    assert (found["entries"], found["marks"], found["snapshots"]) == ([], {}, [])


def test_a_head_is_written_anew(store: Store) -> None:
    store.writing.new_life("shop", b"before")
    store.commit()
    store.writing.put_head("shop", b"after")
    store.commit()
    assert store.reading.sandbox("shop").head == b"after"


def test_a_part_that_did_not_change_is_written_once(store: Store) -> None:
    store.writing.new_life("shop", b"")
    large = bytes(range(256)) * 4000
    for number in range(5):
        snapshot = store.writing.begin_snapshot("shop")
        if number % 2:
            assert sorted(snapshot.before) == ["changing", "kept", "same"]
            snapshot.keep("kept")
        else:
            snapshot.put("kept", large)
        snapshot.put("same", large)
        snapshot.put("changing", b"%d" % number)
        snapshot.complete()
        store.commit()
        store.writing.append("shop", number, b"")
    parts = store.reading._connection.execute("SELECT count(*), sum(length(data)) FROM parts").fetchone()
    assert parts[1] < 2 * len(large)
    newest = store.reading.snapshot("shop")
    assert newest is not None
    assert (newest.n, newest.part("kept"), newest.part("changing")) == (4, large, b"4")
    before = store.reading.snapshot("shop", 3)
    assert before is not None
    assert (before.n, before.part("changing")) == (3, b"3")


@pytest.mark.parametrize("ends", [Writing.forget, lambda writing, name: writing.new_life(name, b"{}")])
def test_a_snapshot_of_a_life_that_is_over_writes_nothing(store: Store, ends: Callable[[Writing, str], object]) -> None:
    store.writing.new_life("shop", b"{}")
    writer = store.writing.begin_snapshot("shop")
    writer.put("first", b"1")
    store.commit()
    ends(store.writing, "shop")
    for number in range(5):
        store.commit()
        writer.put(f"later {number}", b"2")
    writer.complete()
    while not store.is_swept:
        store.commit()
    store.close()
    assert check(store.folder).problems == []


def test_parts_that_an_earlier_version_left_of_a_life_that_is_over_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "left"
    with Store.open(folder, version=VERSION) as store:
        store.writing.new_life("shop", b"{}")
        store.writing.write_part(7, "left over", digest_of(b"x"), b"x")
        store.commit()
    assert [one for one in check(folder).problems if "unknown snapshots" in one]
    with Store.open(folder, version=VERSION) as store:
        writer = store.writing.begin_snapshot("shop")
        writer.put("left over", b"y")
        writer.complete()
        while not store.is_swept:
            store.commit()
        store.commit()
    assert check(folder).problems == []


def test_a_snapshot_is_there_when_it_is_complete(store: Store) -> None:
    store.writing.new_life("shop", b"")
    first = store.writing.begin_snapshot("shop")
    first.put("a", b"first")
    store.commit()
    second = store.writing.begin_snapshot("shop")
    second.put("a", b"second")
    store.commit()
    first.put("b", b"ignored")
    first.complete()
    store.commit()
    assert store.reading.snapshot("shop") is None
    second.put("b", b"second")
    second.complete()
    store.commit()
    found = store.reading.snapshot("shop")
    assert found is not None
    assert {name: found.part(name) for name in found.names} == {"a": b"second", "b": b"second"}
    with pytest.raises(KeyError):
        store.writing.begin_snapshot("shop").keep("c")


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.writing.append("none", 0, b""),
        lambda store: store.writing.put_mark("none", "here"),
        lambda store: store.writing.drop_mark("none", "here"),
        lambda store: store.writing.put_head("none", b""),
        lambda store: store.writing.forget("none"),
        lambda store: store.writing.begin_snapshot("none"),
        lambda store: store.reading.sandbox("none"),
        lambda store: next(store.reading.entries("none")),
        lambda store: store.reading.last_at("none", 5),
        lambda store: store.reading.marks("none"),
        lambda store: store.reading.snapshot("none"),
    ],
)
def test_a_sandbox_that_is_not_there_is_no_sandbox(store: Store, use: Callable[[Store], object]) -> None:
    with pytest.raises(NoSandbox, match="the store has no sandbox 'none'"):
        use(store)


TOO_LARGE = bytes(BLOB_BYTES_MAX + 1)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda store: store.writing.append("shop", 0, TOO_LARGE), "an entry has 67108865 bytes; 67108864 are allowed"),
        (lambda store: store.writing.put_mark("shop", "m", note=TOO_LARGE), "a note has"),
        (lambda store: store.writing.put_head("shop", TOO_LARGE), "a head has"),
        (lambda store: store.writing.new_life("other", TOO_LARGE), "a head has"),
        (lambda store: store.writing.new_life("", b""), "the name of a sandbox has 0 characters; 1 to 1000"),
        (lambda store: store.writing.new_life("\ud800", b""), "surrogates not allowed"),
        (lambda store: store.writing.put_mark("shop", "m" * 1001), "the name of a mark has 1001"),
        (lambda store: store.writing.put_mark("shop", "m", 1), "sandbox 'shop' has 0 entries; a mark at 1 is beyond"),
        (lambda store: store.writing.begin_snapshot("shop").put("", b""), "the name of a part has 0"),
        (lambda store: store.writing.begin_snapshot("shop").put("a", TOO_LARGE), "a part has"),
    ],
)
def test_what_could_not_be_written_is_refused_at_once(store: Store, use: Callable[[Store], object], text: str) -> None:
    store.writing.new_life("shop", b"")
    with pytest.raises(ValueError, match=text):
        use(store)
    store.commit()
    assert list(held(store)) == ["shop"]


def test_a_part_has_its_name_once(store: Store) -> None:
    store.writing.new_life("shop", b"")
    snapshot = store.writing.begin_snapshot("shop")
    snapshot.put("a", b"")
    for data in (b"", b"other"):
        with pytest.raises(ValueError, match="has a part 'a' already"):
            snapshot.put("a", data)
    snapshot.complete()
    store.commit()


def test_entries_are_found_by_their_time(store: Store) -> None:
    store.writing.new_life("shop", b"")
    for at_us in (10, 20, 20, 30):
        store.writing.append("shop", at_us, b"")
    store.commit()
    assert [store.reading.last_at("shop", at_us) for at_us in (9, 10, 19, 20, 29, 30, 99)] == [0, 1, 1, 3, 3, 4, 4]


@pytest.mark.slow
def test_entries_are_read_in_slices_from_anywhere(store: Store) -> None:
    store.writing.new_life("shop", b"")
    for number in range(1, 1401):
        store.writing.append("shop", number, b"z" * (9 if number % 300 else 3_000_000))
    store.commit()
    for begin in (1, 2, 512, 513, 1400, 1401):
        assert [entry.n for entry in store.reading.entries("shop", begin)] == list(range(begin, 1401))


def test_a_cut_takes_away_what_came_later_and_leaves_the_rest(tmp_path: Path) -> None:
    with Store.open(tmp_path / "cut", version=VERSION) as store:
        writing = store.writing
        writing.new_life("shop", b"")
        for n in (1, 2, 3, 4, 5):
            writing.append("shop", n, b"-apart" if n == 3 else b"entry")
            writing.put_mark("shop", f"mark {n}", note=b"%d" % n)
            snapshot = writing.begin_snapshot("shop")
            snapshot.put("all", b"the same")
            snapshot.complete()
            store.commit()
        assert [store.reading.place("shop", count, b"-") for count in range(5)] == [
            (0, 0), (1, 5), (3, 16), (4, 21), (5, 26)
        ]  # fmt: skip
        writing.begin_snapshot("shop").put("half", b"")
        store.commit()
        writing.cut("shop", *store.reading.place("shop", 2, b"-"))
        assert writing.append("shop", 9, b"other") == 4
        store.commit()
        assert [(one.n, one.data) for one in store.reading.entries("shop")] == [
            (1, b"entry"), (2, b"entry"), (3, b"-apart"), (4, b"other")
        ]  # fmt: skip
        assert [one.n for one in store.reading.snapshots("shop")] == [1, 2, 3]
        assert store.reading.noted_marks("shop")[-1] == ("mark 3", 3, b"3")
        snapshot = writing.begin_snapshot("shop")
        snapshot.put("all", b"the same")
        snapshot.complete()
        store.commit()
        assert store.reading.snapshots("shop")[-1].part("all") == b"the same"
    assert check(tmp_path / "cut").problems == []


def test_a_cut_comes_behind_a_commit(tmp_path: Path) -> None:
    with Store.open(tmp_path / "cut", version=VERSION) as store:
        store.writing.new_life("shop", b"")
        with pytest.raises(ValueError, match="behind a commit"):
            store.writing.cut("shop", 0, 0)
        store.commit()
        with pytest.raises(ValueError, match="a cut at 1 is beyond"):
            store.writing.cut("shop", 1, 0)


def test_a_place_has_nothing_that_is_committed_while_it_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "data", version="1") as store:
        store.writing.new_life("shop", b"head")
        for text in (b"a", b"b", b"-b"):
            store.writing.append("shop", 0, text)
        store.commit()
        reading, asked = store.reading, store.reading._row

        def beside(statement: str, *values: object) -> object:
            found = asked(statement, *values)
            if "OFFSET" in statement:
                store.writing.append("shop", 0, b"c")
                store.commit()
            return found

        monkeypatch.setattr(reading, "_row", beside)
        assert reading.place("shop", 2, b"-") == (3, 4)
