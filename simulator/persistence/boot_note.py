"""Notes in a data folder when the machine was started, by its clock.

A server that finds another time for the same start knows how far the clock was set since.
"""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from simulator.runtime.clock import Wall
from simulator.runtime.machine_time import Boot, MachineTime

FILE: Final = ".boot"
NOISE: Final = timedelta(milliseconds=10)  # two clocks are read one after the other


def step_since(folder: Path, wall: Wall) -> timedelta | None:
    """How far the wall was set since the note; None when that is not known: without a note, or after another start."""
    boot = wall.boot() if isinstance(wall, MachineTime) else None
    try:
        noted = msgspec.json.decode((folder / FILE).read_bytes(), type=Boot)
    except (OSError, ValueError):
        return None
    if boot is None or boot.id != noted.id:
        return None
    step = boot.at - noted.at
    return step if abs(step) > NOISE else timedelta()


def note_boot(folder: Path, wall: Wall) -> None:
    """Note the present. Without room on the disk there is no note."""
    boot = wall.boot() if isinstance(wall, MachineTime) else None
    with suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)
        if boot is not None:
            (folder / FILE).write_bytes(msgspec.json.encode(boot))
