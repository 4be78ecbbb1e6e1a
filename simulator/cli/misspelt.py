"""Variables that were meant for a flag of `serve` and are misspelt: nobody reads them, the flag keeps its default."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

import click

from simulator.cli.flags import VARIABLES

# Kubernetes sets such beside a Service whose name is reseller-sim.
OF_SERVICES: Final = ("SERVICE_HOST", "SERVICE_PORT", "PORT_")
# Those of other verbs that resemble ours.
OF_OTHERS: Final = frozenset(("CALLBACKS_TO", "CONTROL", "SANDBOX", "STATE"))
NEAR: Final = 0.7  # PROT for PORT has 0.75


def misspelt(command: click.Command, names: Iterable[str]) -> list[str]:
    """A line for each of these names of variables that resembles one of the command's and is none."""
    prefix = f"{VARIABLES}_"
    known = {str(one.name).upper() for one in command.params}
    given = sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))
    lines = []
    for name in given:
        if name in known or name in OF_OTHERS or name.startswith(OF_SERVICES):
            continue
        if near := get_close_matches(name, known, 1, NEAR):
            lines.append(f"reseller-sim {command.name}: nobody reads {prefix}{name}; did you mean {prefix}{near[0]}?")
    return lines
