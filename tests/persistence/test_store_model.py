"""A store beside a plain model of it: after any writes, commits, closes and kills, both agree."""

import shutil
import tempfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from simulator.persistence.maintenance import check
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention, SnapshotWriter
from tests.support.stores import LOG, VERSION, append, as_killed, held, put_mark
from tests.support.tiers import examples

pytestmark = pytest.mark.slow

SANDBOXES = st.sampled_from(["shop", "till", "käse"])
DATA = st.binary(max_size=40) | st.integers(0, 20_000).map(bytes)
KEPT = 2


class Machine(RuleBasedStateMachine):
    """`wanted` has everything that was ever written, also what the rule of retention drops."""

    def __init__(self) -> None:
        super().__init__()
        self.folders = Path(tempfile.mkdtemp())
        self.count = 0
        self.wanted: dict[str, dict[str, Any]] = {}
        self.committed: dict[str, dict[str, Any]] = {}
        self.in_log: list[dict[str, Any]] = []  # what was held before the log, and after each commit that it has
        self.snapshots: dict[str, tuple[SnapshotWriter, dict[str, bytes], int]] = {}

    @initialize()
    def begin(self) -> None:
        self._open(self.folders / "0")

    @rule(sandbox=SANDBOXES, head=DATA)
    def new_life(self, sandbox: str, head: bytes) -> None:
        self.store.writer.new_life(sandbox, head)
        self.wanted[sandbox] = {"head": head, "entries": [], "marks": {}, "snapshots": []}
        self.snapshots.pop(sandbox, None)

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), size=st.integers(1, 40), content=DATA)
    def append(self, data: st.DataObject, size: int, content: bytes) -> None:
        sandbox = self._drawn(data)
        for _ in range(size):
            self._append(sandbox, content)

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), content=DATA, commits=st.integers(1, 20))
    def append_in_commits_of_one(self, data: st.DataObject, content: bytes, commits: int) -> None:
        sandbox = self._drawn(data)
        for _ in range(commits):
            self._append(sandbox, content)
            self._commit()

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), name=st.sampled_from(["here", "there"]))
    def put_mark(self, data: st.DataObject, name: str) -> None:
        sandbox = self._drawn(data)
        put_mark(self.store, sandbox, name)
        self.wanted[sandbox]["marks"][name] = len(self.wanted[sandbox]["entries"])

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), name=st.sampled_from(["here", "there"]))
    def drop_mark(self, data: st.DataObject, name: str) -> None:
        sandbox = self._drawn(data)
        self.store.writer.drop_mark(sandbox, name)
        self.wanted[sandbox]["marks"].pop(name, None)

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), parts=st.dictionaries(st.sampled_from("abcdef"), DATA))
    def begin_snapshot(self, data: st.DataObject, parts: dict[str, bytes]) -> None:
        sandbox = self._drawn(data)
        writer = self.store.writer.begin_snapshot(sandbox)
        for name, content in parts.items():
            writer.put(name, content)
        self.snapshots[sandbox] = writer, parts, len(self.wanted[sandbox]["entries"])

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def complete_snapshot(self, data: st.DataObject) -> None:
        sandbox = data.draw(st.sampled_from(sorted(self.snapshots)))
        writer, parts, n = self.snapshots.pop(sandbox)
        writer.complete()
        self.wanted[sandbox]["snapshots"].append((n, parts))

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        sandbox = self._drawn(data)
        self.store.writer.forget(sandbox)
        del self.wanted[sandbox]
        self.snapshots.pop(sandbox, None)

    @rule()
    def commit(self) -> None:
        self._commit()
        assert_is(held(self.store), self.wanted)

    @rule()
    def close(self) -> None:
        self.store.close()
        self.committed = deepcopy(self.wanted)
        assert check(self.store.folder).problems == []
        self._open(self.store.folder)

    @rule()
    def kill(self) -> None:
        """Uncommitted entries are gone, all others stay. The log keeps its content."""
        states = self.in_log
        self._killed()
        self.in_log = states

    @rule(data=st.data())
    def kill_and_lose_the_end_of_the_log(self, data: st.DataObject) -> None:
        """The power fails: what is left is what was there after one of the commits."""
        size = (self.store.folder / LOG).stat().st_size
        length = data.draw(st.integers(1, size))
        states = self.in_log
        self._killed(length)
        found = held(self.store)
        assert found in states
        self.in_log = states[: len(states) - states[::-1].index(found)]
        self.wanted = {name: wanted_of(one) for name, one in found.items()}
        self.committed = deepcopy(self.wanted)

    def teardown(self) -> None:
        with suppress(AttributeError):
            self.store.close()
        shutil.rmtree(self.folders)

    def _drawn(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.wanted)))

    def _append(self, sandbox: str, content: bytes) -> None:
        entries = self.wanted[sandbox]["entries"]
        n = len(entries) + 1
        assert append(self.store.writer, sandbox, 5 * n, content) == n
        entries.append((n, 5 * n, content))

    def _commit(self) -> None:
        self.store.commit()
        self.committed = deepcopy(self.wanted)
        self.in_log.append(held(self.store))

    def _killed(self, log_bytes: int | None = None) -> None:
        self.count += 1
        copy = as_killed(self.store.folder, self.folders / str(self.count))
        if log_bytes is not None:
            with (copy / LOG).open("r+b") as file:
                file.truncate(log_bytes)
        self.store.close()
        shutil.rmtree(self.store.folder)
        assert check(copy).problems == []
        self.wanted = deepcopy(self.committed)
        self._open(copy, is_whole=log_bytes is None)

    def _open(self, folder: Path, *, is_whole: bool = True) -> None:
        self.store = Store(folder, version=VERSION, retention=Retention(KEPT))
        self.snapshots.clear()
        found = held(self.store)
        if is_whole:
            assert_is(found, self.wanted)
        self.in_log = [found]


def assert_is(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every written entry exists, except those that the rule allows to drop."""
    assert found.keys() == wanted.keys()
    for name, one in found.items():
        other = wanted[name]
        floor = one["floor"]
        assert one["head"] == other["head"]
        assert one["entries"] == [entry for entry in other["entries"] if entry[0] > floor]
        assert one["marks"].items() <= other["marks"].items()
        assert not other["marks"] or max(other["marks"].values()) in {*one["marks"].values(), *range(floor)}
        assert one["snapshots"][-KEPT:] == other["snapshots"][-KEPT:]
        assert floor in {0, *(n for n, _ in one["snapshots"])}
        assert floor <= min([n for n, _ in other["snapshots"][-KEPT:]], default=0)


def wanted_of(found: dict[str, Any]) -> dict[str, Any]:
    """Return the found entries in the form of the model, without entries that are gone."""
    gone = [(n, 0, b"") for n in range(1, found["floor"] + 1)]
    return {**found, "entries": gone + found["entries"]}


TestModel = Machine.TestCase
TestModel.settings = settings(max_examples=examples(60), stateful_step_count=30)


def test_a_model_that_differs_is_seen() -> None:
    one: dict[str, Any] = {
        "head": b"",
        "entries": [(1, 5, b"x")],
        "marks": {},
        "snapshots": [],
    }
    assert_is({"shop": {**one, "floor": 0}}, {"shop": one})
    changes: list[dict[str, Any]] = [
        {"entries": []},
        {"head": b"y"},
        {"floor": 1},
        {"marks": {"m": 1}},
    ]
    for part in changes:
        with pytest.raises(AssertionError):
            assert_is({"shop": {**one, "floor": 0, **part}}, {"shop": one})
