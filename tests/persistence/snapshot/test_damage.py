"""A snapshot that is not whole is refused."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from simulator.app import App
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.snapshot.document import BadSnapshot, Snapshot, snapshot_of
from tests.support.client import Client, running
from tests.support.replaying import read_back
from tests.support.snapshots import resumed, take
from tests.support.taped_plays import FIRST, a_load, changes_at_run_time, set_callback


@dataclass(frozen=True)
class Whole:
    """A snapshot that can be restored, and the tape that it is of."""

    app: App
    tape: ReadTape
    snapshot: Snapshot

    def restored_with(self, parts: dict[str, bytes]) -> None:
        resumed(self.app, self.tape, snapshot_of(parts.items()))


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
def test_every_part_that_is_cut_or_something_else_is_noticed(whole: Whole) -> None:
    for name, content in whole.snapshot.parts.items():
        for damaged in (content[:-1], b"", b"\xff" + content[1:], b"{}", b'[[],{"no such kind":1}]'):
            with pytest.raises(BadSnapshot):
                whole.restored_with({**whole.snapshot.parts, name: damaged})


def test_another_version_is_refused_before_anything_is_read(whole: Whole) -> None:
    head = json.loads(whole.snapshot.parts["head"]) | {"snapshot": 9, "more": 1}
    parts = {**whole.snapshot.parts, "head": json.dumps(head).encode(), "state": b"of a newer version"}
    with pytest.raises(BadSnapshot, match="a snapshot is of version 9, this simulator reads version 8"):
        whole.restored_with(parts)
