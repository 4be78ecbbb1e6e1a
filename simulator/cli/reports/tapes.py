"""The file of `exec --tape`: the tapes of all sandboxes of a run, deleted and reset ones included."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from simulator.cli.usage import CannotStart
from simulator.shortened import whole_line

if TYPE_CHECKING:
    from simulator.persistence.replay.player import RequestReplay
    from simulator.runtime.live_sandbox import LiveSandbox
    from simulator.runtime.lives import Ending


SECRET_MODE: Final = 0o600
"""The mode of a new file with secrets."""


class Tapes:
    """Writes each tape when its sandbox has ended. `error` says why the file cannot be written. `left_out` names the
    missing tapes, with the reason and advice."""

    def __init__(self, path: Path, *, shows_secrets: bool = False) -> None:
        self._path = path
        self._shows_secrets = shows_secrets
        self._file: IO[bytes] | None = None
        self._replayer: RequestReplay
        self.error = ""
        self.left_out: list[str] = []
        self._lives = 0

    def follow(self, replayer: "RequestReplay") -> None:
        """Rebuild sandboxes without their secrets by this."""
        self._replayer = replayer

    def begin(self) -> None:
        """Create the file, empty. Raises `CannotStart` when it cannot."""
        try:
            if self._shows_secrets:
                self._path.touch(SECRET_MODE)  # keeps the mode of an existing file
            self._file = self._path.open("wb")
        except OSError as error:
            text = f"reseller-sim exec: the tape {self._path} cannot be written: {error.strerror}"
            raise CannotStart(whole_line(text)) from None

    def not_run(self) -> None:
        """Empty the file if it can be written, since this run cannot start and the file may have an earlier result."""
        with suppress(OSError):
            self._path.write_bytes(b"")

    def add(self, life: "LiveSandbox", at: datetime, ended: "Ending") -> None:
        """Append the tape of a life that was `ended` at this time of the sandbox, by what is not empty but at the end
        of the run."""
        from simulator.persistence.replay.head import taken
        from simulator.persistence.replay.tape_reader import LIVES_MAX
        from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
        from simulator.persistence.replay.tape_writer import packed, tape_lines

        if self._file is None:
            return
        if self._lives >= LIVES_MAX:
            if self._lives == LIVES_MAX:
                text = f"the file has the tapes of {LIVES_MAX} lives, which is the limit; run fewer tests at once"
                self.left_out.append(f"{life.id} and the tapes of all later lives are missing: {text}")
            self._lives += 1
            return
        tape = taken(life, at, ended)
        try:
            lines = tape_lines(tape) if self._shows_secrets else lines_without_secrets(tape, self._replayer)
        except CannotMask as error:
            text = "it is not in the file, --tape-secrets writes it with its secrets"
            self.left_out.append(f"{life.id}: {error}; {text}")
            return
        self._lives += 1
        self._write(b"".join(packed(lines)))

    def end(self) -> None:
        """Close the file."""
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _write(self, content: bytes) -> None:
        assert self._file is not None, "it was begun"
        try:
            self._file.write(content)
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.error = self.error or f"the tape {self._path} cannot be written: {error.strerror}"
        self._file = None
