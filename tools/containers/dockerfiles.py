"""Parse the Dockerfile instructions that we use, and the names that `.dockerignore` admits."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One `FROM` stage: its steps in order, and the last value of each other instruction."""

    base: str
    name: str
    steps: list[tuple[str, str, str]] = field(default_factory=list)  # COPY or RUN, its arguments, and the folder
    variables: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)  # of the build, by their defaults
    labels: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    stop_signal: str = "SIGTERM"
    ports: list[str] = field(default_factory=list)


def stages(text: str, base_variables: dict[str, str]) -> list[Stage]:
    """Parse a Dockerfile into stages; an unknown instruction is an error."""
    found: list[Stage] = []
    bases: dict[str, str] = {}  # the arguments before the first stage, by their defaults
    for word, rest in _instructions(text):
        if word == "ARG" and not found:
            name, _, default = rest.partition("=")
            bases[f"${{{name}}}"] = default
        elif word == "FROM":
            base, _, name = rest.partition(" AS ")
            found.append(Stage(bases.get(base, base), name, variables=dict(base_variables)))
        else:
            _apply(found[-1], word, rest)
    return found


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def _apply(stage: Stage, word: str, rest: str) -> None:
    if word in ("COPY", "RUN"):
        stage.steps.append((word, rest, stage.folder))
    elif word == "ENV":
        for pair in shlex.split(rest):
            name, _, value = pair.partition("=")
            stage.variables[name] = re.sub(r"\$(\w+)", lambda found: stage.variables[found[1]], value)
    elif word == "ARG":
        name, _, default = rest.partition("=")
        stage.arguments[name] = default
    elif word == "LABEL":
        for pair in shlex.split(rest):
            name, _, value = pair.partition("=")
            stage.labels[name] = re.sub(r"\$(\w+)", lambda found: stage.arguments[found[1]], value)
    elif word == "WORKDIR":
        stage.folder = rest
    elif word == "USER":
        stage.user = rest
    elif word == "VOLUME":
        stage.volumes = json.loads(rest)
    elif word == "EXPOSE":
        stage.ports = rest.split()
    elif word == "STOPSIGNAL":
        stage.stop_signal = rest
    elif word == "HEALTHCHECK":
        stage.health = json.loads(rest.partition(" CMD ")[2])
    elif word in ("ENTRYPOINT", "CMD"):
        setattr(stage, "entry" if word == "ENTRYPOINT" else "command", json.loads(rest))
    else:
        raise AssertionError(f"{word} is not played")


def context(folder: Path) -> set[str]:
    """Return the top-level names that `.dockerignore` admits. Ours excludes everything and lists the exceptions."""
    first, *lines = (folder / ".dockerignore").read_text("utf-8").splitlines()
    assert first == "*"
    return {line[1:] for line in lines if line.startswith("!")}
