"""Tapes of earlier versions replay with this version. `former` has a file of each version."""

from pathlib import Path

import pytest

from simulator import __version__
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from tests.support.client import running
from tests.support.runner import invoke

FORMER = sorted((Path(__file__).parent / "former").glob("*.tape"))


@pytest.mark.parametrize("file", FORMER, ids=lambda file: file.stem)
def test_the_tape_of_an_earlier_version_is_unchanged(file: Path) -> None:
    done = invoke("replay", str(file))
    assert done.exit_code == 0, done.output
    assert ": all as it was" in done.stdout


def test_a_difference_names_the_version_that_wrote_the_tape(tmp_path: Path) -> None:
    file = tmp_path / "changed.tape"
    with running() as client:
        client.pay()
        lines = list(tape_lines(take_tape(client.live)))
    file.write_bytes(b"".join(packed(line.replace(b'"status":200', b'"status":201') for line in lines)))
    assert "wrote it" not in invoke("replay", str(file)).stdout
    former = (line.replace(f'"{__version__}"'.encode(), b'"0.0.9"') for line in lines)
    file.write_bytes(b"".join(packed(line.replace(b'"status":200', b'"status":201') for line in former)))
    done = invoke("replay", str(file))
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].endswith("; reseller-sim 0.0.9 wrote it")
