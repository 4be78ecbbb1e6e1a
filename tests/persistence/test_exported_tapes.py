"""The tape of a sandbox in a folder ends as the tape in a server's memory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.persistence.data_folder import DataFolder
from simulator.persistence.reader import folder_reader
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.persistence.restoration import kept_tape
from tests.support.client import Client, running
from tests.support.stores import as_killed
from tests.support.taped_plays import FIRST, PLAYS, set_callback


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_a_tape_from_the_disk_is_the_one_from_memory(happens: Callable[[Client], None], tmp_path: Path) -> None:
    kept = DataFolder(tmp_path / "data", "process", lambda error: pytest.fail(str(error)), lambda line: None)
    with running(FIRST, None, kept.keep) as client:
        set_callback(client)
        happens(client)
        client.pay("the-last-one")
        wanted: list[bytes] = []
        while wanted != (wanted := list(tape_lines(take_tape(client.live)))):  # an attempt may end meanwhile
            client.run(kept.gate.until_durable())
        folder = as_killed(kept.path, tmp_path / "killed")
    with folder_reader(folder) as reading:
        assert list(tape_lines(kept_tape(reading, "default", client.app.replayer))) == wanted
