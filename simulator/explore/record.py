"""What has been run, kept in a file, so that a later `--resume` passes over it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from simulator.explore.judgement import Kind, Reason

FILE = "runs.jsonl"
VERSION = 3


class OtherRun(Exception):
    """The folder has the runs of something else. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run's reasons to fail, none when it survived; whether a fault was triggered; the end of the command's output.
    `problem` says why the scenario could not be loaded: together with that of the user, these faults make none.
    `duration_s` is the wall time of the run."""

    reasons: tuple[Reason, ...]
    is_triggered: bool
    output: str = ""
    problem: str = ""
    duration_s: float = 0.0

    @property
    def survived(self) -> bool:
        """True when nothing is held against the command."""
        return not self.reasons


class Record:
    """The verdicts by key. `about` is what all runs have in common, by the name of each part; `begins_anew` when there
    are none to go on with. Nothing is deleted or written before it is said to `begin`."""

    def __init__(self, folder: Path, about: Mapping[str, Any], *, resumes: bool) -> None:
        self._path = folder / FILE
        self._verdicts: dict[str, Verdict] = {}
        self._files: dict[str, str] = {}  # of findings
        self._head = {"version": VERSION, "about": {name: _digest(value) for name, value in about.items()}}
        self._file: TextIO | None = None
        self.begins_anew = not (resumes and self._path.exists())
        if not self.begins_anew:
            self._read(self._head)

    def begin(self) -> None:
        """Delete what an earlier exploration has written here, unless this one goes on with it, and add from now on."""
        if self.begins_anew:
            self._forget()
            self._path.write_text(json.dumps(self._head) + "\n", encoding="utf-8")
        self._file = self._path.open("a", encoding="utf-8")
        if not self.begins_anew:
            self._file.write("\n")  # the last line may have been cut off

    def close(self) -> None:
        """Nothing is added after that."""
        if self._file is not None:
            self._file.close()

    def get(self, key: str) -> Verdict | None:
        """The verdict of a run that has ended."""
        return self._verdicts.get(key)

    def add(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict."""
        self._verdicts[key] = verdict
        self._write({"key": key, **asdict(verdict)})

    def file_of(self, key: str, named: Callable[[int], str]) -> str:
        """The file of a finding: the name that an earlier exploration gave it, or a new one, by the next number."""
        if key not in self._files:
            self._files[key] = named(len(self._files) + 1)
            self._write({"file": self._files[key], "of": key})
        return self._files[key]

    def add_file(self, name: str) -> None:
        """Note a file that belongs to these runs, and is deleted when others take their place."""
        self._write({"file": name})

    def _write(self, line: Mapping[str, Any]) -> None:
        assert self._file is not None, "it has begun"
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
        other = _differing(lines[0] if lines else {}, head)
        if other:
            what = " and another ".join(other)
            raise OtherRun(f"{self._path} has the runs of another {what}; leave --resume out, or take another --out")
        for line in lines[1:]:
            if "of" in line:
                self._files[line["of"]] = line["file"]
            if "key" in line:
                reasons = tuple(Reason(**(one | {"kind": Kind(one["kind"])})) for one in line["reasons"])
                reported = line["is_triggered"], line["output"], line["problem"], line.get("duration_s", 0.0)
                self._verdicts[line["key"]] = Verdict(reasons, *reported)

    def _forget(self) -> None:
        """Delete what is noted here, and nothing else."""
        if self._path.exists():
            for line in self._lines():
                if (name := line.get("file")) and Path(name).name == name:
                    self._path.with_name(name).unlink(missing_ok=True)


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _differing(kept: Mapping[str, Any], head: Mapping[str, Any]) -> list[str]:
    """What is another one in a file that begins so."""
    if kept.get("version") != head["version"] or not isinstance(kept.get("about"), dict):
        return ["version of reseller-sim"]
    return [name for name, digest in head["about"].items() if kept["about"].get(name) != digest]
