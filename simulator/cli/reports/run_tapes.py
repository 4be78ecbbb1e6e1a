"""The file with the tapes of the sandboxes of a run."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from simulator.cli.reports.report_cases import unwritable
from simulator.cli.usage import CannotStart, notify
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import LifeEnding

SECRET_MODE: Final = 0o600
"""The mode of a new file with secrets."""


class RunTapes:
    """Writes each tape when its sandbox has ended. `replayer` rebuilds sandboxes without their secrets."""

    replayer: RequestReplay

    def __init__(self, path: Path, *, shows_secrets: bool = False) -> None:
        self._path = path
        self._shows_secrets = shows_secrets
        self._file: IO[bytes] | None = None
        self._error = ""
        self.left_out: list[str] = []
        """The missing tapes, with the reason and advice."""

    def begin(self) -> None:
        """Create the file, empty. Raises `CannotStart` when it cannot."""
        try:
            if self._shows_secrets:
                self._path.touch(SECRET_MODE)  # keeps the mode of an existing file
            self._file = self._path.open("wb")
        except OSError as error:
            raise CannotStart(unwritable(self._path, error)) from None

    def not_run(self) -> None:
        """Empty the file if it can be written, since this run cannot start and the file may have an earlier result."""
        with suppress(OSError):
            self._path.write_bytes(b"")

    def add(self, life: LiveSandbox, at: datetime, ending: LifeEnding) -> None:
        """Append the tape of a life. `at` is the sandbox's time of its end, `ending` its cause, empty at the end of the
        run."""
        if self._file is None or self._error:
            return
        tape = take_tape(life, at, ending)
        try:
            lines = tape_lines(tape) if self._shows_secrets else lines_without_secrets(tape, self.replayer)
            self._file.write(b"".join(packed(lines)))
            self._file.flush()
        except CannotMask as error:
            text = "it is not in the file, --tape-secrets writes it with its secrets"
            self.left_out.append(f"{life.id}: {error}; {text}")
        except OSError as error:
            self._error = unwritable(self._path, error)

    def end(self) -> bool:
        """Close the file, and print what it lacks. Return whether it could be written."""
        if self._file is not None:
            with suppress(OSError):  # all of it was flushed
                self._file.close()
        for lacking in self.left_out:
            notify(f"the tape of {lacking}")
        if self._error:
            notify(self._error)
        return not self._error
