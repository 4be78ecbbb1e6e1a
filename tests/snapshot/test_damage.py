"""A snapshot that is not whole is refused with a sentence that names its part."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from simulator.app import App
from simulator.domain.model import part_counts
from simulator.domain.model.packed.blocks import SIZE
from simulator.replay.reading import ReadTape
from simulator.snapshot import counts, payments
from simulator.snapshot.snapshot import BadSnapshot, Snapshot, log_of, snapshot_of
from simulator.snapshot.taking import parts_of, take
from tests.support.client import Client, running
from tests.support.replaying import read_back
from tests.support.snapshots import resumed
from tests.support.taped_plays import FIRST, a_load, changes_at_run_time, set_callback


@dataclass(frozen=True)
class Whole:
    """A snapshot that can be restored, and the tape that it is of."""

    app: App
    tape: ReadTape
    snapshot: Snapshot

    def restored_with(self, parts: dict[str, bytes]) -> None:
        resumed(self.app, self.tape, Snapshot(self.snapshot.n, self.snapshot.now, parts))


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    with running(FIRST) as client:
        set_callback(client)
        _much(client)
        tape = read_back(client.app, client.live, shows_secrets=True)
        yield Whole(client.app, tape, take(client.live, len(tape.entries)))


def _much(client: Client) -> None:
    a_load(client)
    changes_at_run_time(client)
    client.call("POST", "/v2/transactions/void", {"trxid": "before"})


def test_it_is_restored_when_it_is_whole(whole: Whole) -> None:
    whole.restored_with(dict(whole.snapshot.parts))


@pytest.mark.slow
def test_every_part_that_is_missing_is_noticed(whole: Whole) -> None:
    for name in whole.snapshot.parts:
        left = {each: content for each, content in whole.snapshot.parts.items() if each != name}
        with pytest.raises(BadSnapshot, match=f"'{log_of(name)}'"):
            whole.restored_with(left)


@pytest.mark.slow
def test_every_part_that_is_cut_or_is_something_else_is_named(whole: Whole) -> None:
    for name, content in whole.snapshot.parts.items():
        for damaged in (content[:-1], b"", b"\xff" + content[1:], b"{}", b'[[],{"no such kind":1}]'):
            refused = ""
            try:
                whole.restored_with({**whole.snapshot.parts, name: damaged})
            except BadSnapshot as error:
                refused = str(error)
            assert repr(name) in refused, (name, damaged)


def test_a_value_that_is_none_names_its_part(whole: Whole) -> None:
    name = "payments/0"
    damaged = whole.snapshot.parts[name].replace(b"0123456789", b"1123456789", 1)
    assert damaged != whole.snapshot.parts[name]
    with pytest.raises(BadSnapshot, match=name):
        whole.restored_with({**whole.snapshot.parts, name: damaged})


def test_a_newer_version_is_refused_before_anything_is_read(whole: Whole) -> None:
    head = json.loads(whole.snapshot.parts["head"]) | {"snapshot": 5, "more": 1}
    parts = {**whole.snapshot.parts, "head": json.dumps(head).encode(), "resellers": b"of a newer version"}
    with pytest.raises(
        BadSnapshot, match=r"'head' of the snapshot is of version 5, this simulator reads versions 3 and 4"
    ):
        whole.restored_with(parts)
    with pytest.raises(BadSnapshot, match="versions 3 and 4"):
        snapshot_of(parts.items())


def test_a_part_too_many_is_noticed(whole: Whole) -> None:
    with pytest.raises(BadSnapshot, match="1 of the 0 parts 'another'"):
        whole.restored_with({**whole.snapshot.parts, "another": b""})


@pytest.mark.slow
def test_a_part_in_the_place_of_its_brother_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them is whole, so that nothing but what is in it tells."""
    monkeypatch.setattr(payments, "FILTERED", 1)
    for module, name in ((part_counts, "SIZE"), (counts, "PART")):
        monkeypatch.setattr(module, name, 100)
    with running(FIRST) as client:
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 1_000_000})
        for number in range(2 * SIZE):
            assert client.pay(f"ref-{number}").status == 200
        tape = read_back(client.app, client.live, shows_secrets=True)
        snapshot = snapshot_of(parts_of(client.live, len(tape.entries), has_filters=True))
        whole = Whole(client.app, tape, snapshot)
        whole.restored_with(dict(snapshot.parts))
        first, last = (name for name in snapshot.parts if name.startswith("refids/"))
        nonces = [name for name in snapshot.parts if name.startswith("nonces/")]
        for one, other in ((first, last), (nonces[1], nonces[2]), (nonces[0], nonces[-1])):
            parts = {**snapshot.parts, one: snapshot.parts[other], other: snapshot.parts[one]}
            with pytest.raises(BadSnapshot, match=f"'{one}'.*(of other refids|numbers are not those)"):
                whole.restored_with(parts)
        for damaged in (b"", bytes(len(snapshot.parts[last])), snapshot.parts[last][:-1]):
            with pytest.raises(BadSnapshot, match=f"'{last}'"):
                whole.restored_with({**snapshot.parts, last: damaged})
