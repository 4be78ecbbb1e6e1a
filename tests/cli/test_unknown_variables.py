"""Environment variables that no verb reads."""

import pytest

from simulator.cli.serve import serve_command, unknown_variables
from simulator.cli.usage import VARIABLES
from tests.support.runner import invoke


def said(*names: str) -> str:
    return unknown_variables(serve_command, [f"{VARIABLES}_{name}" for name in names])


@pytest.mark.parametrize("name", ["PROT", "DATADIR", "TOKENS", "port", "VERSION"])
def test_a_variable_that_no_verb_reads_is_named(name: str) -> None:
    assert said(name, "PORT") == f"unknown environment variables, ignored: RESELLER_SIM_{name}"


def test_several_are_on_one_line_of_a_bounded_length() -> None:
    assert said("PROT", "A") == "unknown environment variables, ignored: RESELLER_SIM_A, RESELLER_SIM_PROT"
    assert len(said(*(f"X{number}" for number in range(1_000)))) == 300


def test_variables_of_other_verbs_of_kubernetes_and_of_others_are_none() -> None:
    assert said("PORT", "CALLBACKS_TO", "TOKEN", "URL", "UPSTREAM", "SECRET") == ""
    assert (
        said("SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8080_TCP_PROTO", "A_SERVICE_HOST", "A_PORT", "TLS_PORT") == ""
    )
    assert said("PORT\n", "PÖRT") == ""
    assert unknown_variables(serve_command, ["RESELLER_PROT", "PROT", "PATH"]) == ""


def test_the_server_says_it_and_starts() -> None:
    told = invoke("serve", "bad-dya", RESELLER_SIM_PROT="9000").stderr.splitlines()
    assert told[0] == "reseller-sim serve: unknown environment variables, ignored: RESELLER_SIM_PROT"
    assert "bad-dya" in told[1], "the start went on"
