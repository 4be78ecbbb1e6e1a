"""Where callbacks may go by default: a server that others use calls public addresses and inboxes only."""

from pathlib import Path
from typing import Any

import pytest

from simulator.cli import banner
from simulator.cli.server import Running, of_one_command, options_of, prepare
from simulator.cli.server_flags import ServerFlags
from simulator.cli.values import TokenFile

FILE = TokenFile("token", "let-me-in")
LIST = Path("tokens")

TABLE: tuple[tuple[dict[str, Any], str, str], ...] = (  # flags, what a server may call, what one of a command may call
    ({}, "any", "any"),
    ({"host": "localhost"}, "any", "any"),
    ({"host": "127.0.0.2"}, "any", "any"),
    ({"host": "::1"}, "any", "any"),
    ({"host": "0.0.0.0"}, "public", "public"),
    ({"host": "::"}, "public", "public"),
    ({"host": "192.168.1.20"}, "public", "public"),
    ({"host": "sim.example"}, "public", "public"),
    ({"control_token": "let-me-in"}, "public", "any"),
    ({"control_token_file": FILE}, "public", "any"),
    ({"control_tokens": LIST}, "public", "any"),
    ({"host": "0.0.0.0", "control_token": "let-me-in"}, "public", "public"),
    ({"callbacks": "public"}, "public", "public"),
    ({"callbacks": "any"}, "any", "any"),
    ({"callbacks": "any", "host": "0.0.0.0"}, "any", "any"),
    ({"callbacks": "any", "control_token": "let-me-in"}, "any", "any"),
)


def flags(**given: Any) -> ServerFlags:
    usual: dict[str, Any] = dict.fromkeys(ServerFlags._fields) | {"scenario": "default", "host": "127.0.0.1", "port": 0}
    return ServerFlags(**usual | {"allow_host": ()} | given)


@pytest.mark.parametrize(("given", "of_server", "of_command"), TABLE)
def test_a_server_with_a_token_or_for_other_machines_calls_public_addresses_only(
    given: dict[str, Any], of_server: str, of_command: str
) -> None:
    assert options_of(flags(**given)).public_callbacks_only is (of_server == "public")
    assert options_of(of_one_command(flags(**given))).public_callbacks_only is (of_command == "public")


def test_the_file_of_authorities_reaches_the_application() -> None:
    assert options_of(flags(callbacks_ca=Path("ca.pem"))).callbacks_ca == Path("ca.pem")


@pytest.mark.parametrize(
    ("given", "has_risk"),
    [
        ({}, False),
        ({"control_token": "let-me-in"}, False),
        ({"callbacks": "any"}, False),
        ({"callbacks": "any", "control_token": "let-me-in"}, True),
        ({"callbacks": "public", "control_token": "let-me-in"}, False),
    ],
)
def test_the_banner_names_the_risk_of_private_callbacks_from_a_shared_server(
    given: dict[str, Any], has_risk: bool
) -> None:
    printed: list[str] = []

    def on_ready(running: Running) -> None:
        printed.append(banner.page(running))
        running.server.should_exit = True

    prepare(flags(**given), on_ready).server.run()
    assert ("--callbacks any: whoever has a reseller's key can" in printed[0]) is has_risk
