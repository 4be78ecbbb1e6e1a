"""Environment variables that look like those of a flag, and that no verb reads: the flag keeps its default."""

import re
from collections.abc import Iterable
from typing import Final

import click

from simulator.cli.flags import VARIABLES

# Kubernetes sets such for each Service, of which `reseller-sim` is one.
_OF_SERVICES: Final = re.compile(r"(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_\w+)?)")


def unknown_variables(command: click.Command, names: Iterable[str]) -> str:
    """A line about those of these names that neither `command` nor another verb reads; empty for none."""
    own = {f"{VARIABLES}_{parameter.name}".upper() for parameter in command.params}
    given = {name for name in names if name.startswith(f"{VARIABLES}_") and name.isascii() and name.isprintable()}
    unknown = {name for name in given - own if not _OF_SERVICES.fullmatch(name.removeprefix(f"{VARIABLES}_"))}
    unknown = unknown and unknown - _of_all_verbs()
    return f"unknown environment variables, ignored: {', '.join(sorted(unknown))}"[:300] if unknown else ""


def _of_all_verbs() -> set[str]:
    """The variables of all verbs, whose modules are imported for it."""
    from simulator.cli.main import VERBS, cli

    commands = [cli.get_command(click.Context(cli), name) for name in VERBS]
    return set().union(*(_of_verb(command) for command in commands if command is not None))


def _of_verb(command: click.Command) -> set[str]:
    if isinstance(command, click.Group):
        return set().union(*map(_of_verb, command.commands.values()))
    found: set[str] = set()
    for option in command.params:
        if isinstance(option, click.Option) and option.allow_from_autoenv:
            found.add(f"{VARIABLES}_{option.name}".upper())
        found.update([option.envvar] if isinstance(option.envvar, str) else option.envvar or ())
    return found
