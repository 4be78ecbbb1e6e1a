"""Interactive shells that completed a line: what stands there after the Tab key, or what is offered.

bash and zsh run on a terminal of their own, where a key of ours writes the line down; fish answers `complete -C`.
"""

import os
import pty
import select
import subprocess
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from tests.support.processes import DEADLINE_S, PROGRAM, environment
from tests.support.programs import program

TAB, WRITE_DOWN = b"\t", b"\x18\x10"  # Ctrl-X Ctrl-P
START_UP = {
    "bash": ("rc", 'PS1="> "\nbind "set bell-style none"\nbind -x \'"\\C-x\\C-p": write_down\'\n'
             'write_down() { printf "%s\\n" "$READLINE_LINE" >> "$WRITTEN"; READLINE_LINE=; }\n'),
    "zsh": (".zshrc", 'PS1="> "\nunsetopt beep\nbindkey -e\nzle -N write-down\nbindkey "^X^P" write-down\n'
            'write-down() { print -r -- "$BUFFER" >> "$WRITTEN"; zle kill-buffer; }\n'),
}  # fmt: skip
READY = 'printf "ready\\n" >> "$WRITTEN"\n'


@dataclass(frozen=True)
class Shell:
    """A shell by its name, `HOME` in an empty folder with the completion of its start-up file, run in `folder`."""

    name: str
    home: Path
    folder: Path
    variables: Mapping[str, str]
    deadline_s: float = 4 * DEADLINE_S

    def completed(self, *typed: str) -> list[str]:
        """Return each line after the Tab key."""
        if self.name == "fish":
            return [self._by_fish(one) for one in typed]
        return self._on_terminal(typed)

    def _by_fish(self, typed: str) -> str:
        """As fish would complete it: by the only word that it offers, as far as there is one."""
        done = subprocess.run(
            [program("fish"), "-c", "complete -C $argv[1]", typed],
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=self.deadline_s,
            check=True,
        )
        assert done.stderr == ""
        words = [line.partition("\t")[0] for line in done.stdout.splitlines()]
        before, _, _ = typed.rpartition(" ")
        if len(words) != 1:
            return typed
        word = words[0].replace(" ", "\\ ")
        return f"{before} {word}" + ("" if word.endswith("/") else " ")

    def _environment(self) -> dict[str, str]:
        paths = {"HOME": str(self.home), "ZDOTDIR": str(self.home), "WRITTEN": str(self.home / "written")}
        path = f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**environment(PATH=path, TERM="dumb", **paths), **self.variables}

    def _on_terminal(self, typed: tuple[str, ...]) -> list[str]:
        written = self.home / "written"
        written.unlink(missing_ok=True)
        flags = ["--rcfile", str(self.home / "rc"), "-i"] if self.name == "bash" else ["-i"]
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (50, 200))
        process = subprocess.Popen(
            [program(self.name), *flags],
            stdin=its,
            stdout=its,
            stderr=its,
            env=self._environment(),
            cwd=self.folder,
            start_new_session=True,
        )
        os.close(its)
        killer = Timer(self.deadline_s, process.kill)
        killer.start()
        try:
            for count, line in enumerate(["", *typed]):
                os.write(ours, line.encode() + TAB + WRITE_DOWN if count else b"")
                _wait(written, count + 1, ours)
        finally:
            killer.cancel()
            process.kill()
            process.wait()
            os.close(ours)
        return written.read_text().splitlines()[1:]


def shell(name: str, folder: Path, variables: Mapping[str, str], deadline_s: float = 4 * DEADLINE_S) -> Shell:
    """A shell that has completion set up as docs/cli.md says; `folder` is empty."""
    program(name)
    home, work = folder / "home", folder / "work"
    (home / "bin").mkdir(parents=True)
    work.mkdir()
    ours = home / "bin" / "reseller-sim"
    ours.write_text(f'#!/bin/sh\nexec {" ".join(PROGRAM)} "$@"\n')
    ours.chmod(0o755)
    made = Shell(name, home, work, variables, deadline_s)
    if name == "fish":
        script = home / ".config" / "fish" / "completions" / "reseller-sim.fish"
        script.parent.mkdir(parents=True)
        script.write_bytes(subprocess.check_output([ours, "completion", "fish"], env=made._environment()))
    else:
        file, text = START_UP[name]
        (home / file).write_text(f'{text}eval "$(reseller-sim completion {name})"\n{READY}')
    return made


def _wait(written: Path, lines: int, terminal: int) -> None:
    """Wait until a file has this many lines. Meanwhile read the shell's output, so that the shell does not block."""
    shown = b""
    while not written.exists() or len(written.read_text().splitlines()) < lines:
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                shown += os.read(terminal, 65_536)
            except OSError as gone:
                raise AssertionError(f"the shell was stopped after {shown.decode(errors='replace')}") from gone
