"""Variables that nobody reads, since they are misspelt."""

import pytest
from click import Command, Context, Group, Option

from simulator.cli.flags import VARIABLES
from simulator.cli.main import VERBS, cli
from simulator.cli.misspelt import LINES_MAX, misspelt
from simulator.cli.serve import command
from tests.support.runner import invoke


def lines(*names: str) -> list[str]:
    return misspelt(command, [f"{VARIABLES}_{name}" for name in names])


def names_of(verb: Command) -> set[str]:
    """The variables of a verb and of its words, without what all begin with."""
    if isinstance(verb, Group):
        return set().union(*map(names_of, verb.commands.values()))
    found: set[str] = set()
    for one in verb.params:
        given = [one.envvar] if isinstance(one.envvar, str) else [*(one.envvar or ())]
        if isinstance(one, Option) and one.allow_from_autoenv and not given:
            given = [f"{VARIABLES}_{one.name}".upper()]
        found.update(name.removeprefix(f"{VARIABLES}_") for name in given)
    return found


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PROT", "PORT"),
        ("DATADIR", "DATA_DIR"),
        ("QUOTA_TRANSACTION", "QUOTA_TRANSACTIONS"),
        ("ALLOWED_HOSTS", "ALLOW_HOST"),
        ("CONTROLTOKEN", "CONTROL_TOKEN"),
        ("SCENARIO_FILE", "SCENARIO"),
        ("TOKENS", "CONTROL_TOKENS"),
        ("port", "PORT"),
        ("TTL", "SANDBOX_TTL"),
    ],
)
def test_what_was_meant_is_said(name: str, meant: str) -> None:
    assert lines(name) == [f"reseller-sim serve: nobody reads RESELLER_SIM_{name}; did you mean RESELLER_SIM_{meant}?"]


def test_what_means_something_else_is_no_mistake() -> None:
    """A variable of another verb, those of a Service in Kubernetes, and names of a team's own."""
    verbs = [cli.get_command(Context(cli), name) for name in VERBS]
    names = set().union(*(names_of(verb) for verb in verbs if verb is not None))
    assert {"PORT", "CALLBACKS_TO", "TOKEN", "ONLY"} <= names
    assert lines(*names) == []
    assert lines("SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8080_TCP_PROTO", "VERSION", "IMAGE", "REPLICAS") == []
    assert lines("A_SERVICE_HOST", "A_SERVICE_PORT", "A_PORT", "A_PORT_8080_TCP", "TLS_SERVICE_HOST", "TLS_PORT") == []
    assert lines("PORT\n", "PORT\x1b[1m", "PÖRT", "P" * 10_000) == []
    assert misspelt(command, ["RESELLER_PROT", "PROT", "PATH"]) == []


def test_of_many_few_are_said() -> None:
    assert len(lines(*(f"PORT{number}" for number in range(1_000)))) == LINES_MAX


def test_the_server_says_it_and_starts() -> None:
    told = invoke("serve", "bad-dya", RESELLER_SIM_PROT="9000").stderr.splitlines()
    assert told[0] == "reseller-sim serve: nobody reads RESELLER_SIM_PROT; did you mean RESELLER_SIM_PORT?"
    assert "bad-dya" in told[1], "the start went on"
