"""Variables that were meant for a flag of `serve` and are misspelt: nobody reads them, the flag keeps its default."""

import re
from collections.abc import Collection, Iterable
from typing import Final

import click

from simulator.cli.flags import VARIABLES
from simulator.domain.model.likeness import likeness, nearest

# Those of other verbs that resemble ours.
OF_OTHERS: Final = frozenset(("CALLBACKS_TO", "CONTROL", "KEY", "RATE", "SANDBOX", "STATE", "TOKEN"))
NEAR: Final = 0.75  # as PROT is to PORT
LINES_MAX: Final = 10
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,40}")
_SERVICE: Final = "SERVICE_HOST"


def misspelt(command: click.Command, names: Iterable[str]) -> list[str]:
    """A line for each of these names of variables that resembles one of the command's and is none; few of many."""
    prefix = f"{VARIABLES}_"
    known = {str(one.name).upper() for one in command.params}
    given = sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))
    # Kubernetes sets such beside each Service, of which `reseller-sim-a` is one.
    services = tuple(name.removesuffix(_SERVICE) for name in given if name.endswith(_SERVICE))
    of_services = tuple(f"{service}{what}" for service in services for what in ("SERVICE_", "PORT"))
    lines: list[str] = []
    for name in filter(_NAME.fullmatch, given):
        if name in known or name in OF_OTHERS or (name.startswith(of_services) and name.upper() not in known):
            continue
        if (meant := _meant(name.upper(), known)) is not None and len(lines) < LINES_MAX:
            lines.append(f"reseller-sim {command.name}: nobody reads {prefix}{name}; did you mean {prefix}{meant}?")
    return lines


def _meant(name: str, known: Collection[str]) -> str | None:
    # A name that only begins as one of ours is that of something else: DATA is not DATA_DIR.
    near = nearest(name, [one for one in known if not one.startswith(f"{name}_")])
    if near and likeness(name.lower(), near.lower()) >= NEAR:
        return near
    ending = [one for one in known if one.endswith(f"_{name}")]
    return ending[0] if len(ending) == 1 else None
