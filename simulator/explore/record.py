"""What has been run, kept in a file, so that a later `--resume` passes over it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.explore.judging import Kind, Reason

FILE = "runs.jsonl"
VERSION = 1


class OtherRun(Exception):
    """The folder has the runs of something else. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run's reasons to fail, none when it survived; whether its faults struck; the last of the command's output.
    `problem` says why the scenario could not be loaded: together with that of the user, these faults make none.
    `duration_s` is the wall time of the run."""

    reasons: tuple[Reason, ...]
    is_struck: bool
    output: str = ""
    problem: str = ""
    duration_s: float = 0.0

    @property
    def survived(self) -> bool:
        """True when nothing is held against the command."""
        return not self.reasons


class Record:
    """The verdicts by key. `about` is what all runs have in common; `has_begun_anew` when there were none to go on
    with."""

    def __init__(self, folder: Path, about: Mapping[str, Any], *, resumes: bool) -> None:
        self._path = folder / FILE
        self._verdicts: dict[str, Verdict] = {}
        self._files: list[str] = []
        head = {"version": VERSION, "about": sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()}
        self.has_begun_anew = not (resumes and self._path.exists())
        if not self.has_begun_anew:
            self._read(head)
        else:
            self._forget(folder)
            self._path.write_text(json.dumps(head) + "\n", encoding="utf-8")
        self._file = self._path.open("a", encoding="utf-8")
        if resumes:
            self._file.write("\n")  # the last line may have been cut off

    def close(self) -> None:
        """Nothing is added after that."""
        self._file.close()

    def get(self, key: str) -> Verdict | None:
        """The verdict of a run that has ended."""
        return self._verdicts.get(key)

    def add(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict."""
        self._verdicts[key] = verdict
        self._write({"key": key, **asdict(verdict)})

    def add_file(self, name: str) -> None:
        """Note a file that belongs to these runs, and is deleted when others take their place."""
        self._write({"file": name})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _lines(self) -> list[dict[str, Any]]:
        """The lines that are whole: the last one may have been cut off."""
        found = []
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
        return found

    def _read(self, head: Mapping[str, Any]) -> None:
        lines = self._lines()
        if not lines or lines[0] != head:
            raise OtherRun(f"{self._path} has the runs of another command, scenario or version; leave --resume out")
        for line in lines[1:]:
            if "key" in line:
                reasons = tuple(Reason(**(one | {"kind": Kind(one["kind"])})) for one in line["reasons"])
                told = line["is_struck"], line["output"], line["problem"], line.get("duration_s", 0.0)
                self._verdicts[line["key"]] = Verdict(reasons, *told)

    def _forget(self, folder: Path) -> None:
        """Delete what an earlier exploration has written here, and nothing else."""
        if self._path.exists():
            for line in self._lines():
                if (name := line.get("file")) and Path(name).name == name:
                    (folder / name).unlink(missing_ok=True)
