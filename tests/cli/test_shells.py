"""Completion in real shells, which read the scripts as docs/cli.md says."""

import socket
from pathlib import Path

import pytest

from tests.support.asking import Asking
from tests.support.shells import Shell, shell

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("bash", "zsh", "fish"),
    pytest.mark.parametrize("name", ["bash", "zsh", "fish"]),
]

NO_SIMULATOR = "http://127.0.0.1:1"
DEADLINE_S = 20.0  # of a shell that starts and asks; without a bound of its own it would wait a minute for a simulator


def made(name: str, folder: Path, url: str, sandbox: str = "default") -> Shell:
    return shell(name, folder, {"RESELLER_SIM_URL": url, "RESELLER_SIM_SANDBOX": sandbox})


def check(shell: Shell, lines: dict[str, str]) -> None:
    """Each line becomes the other one, which follows `reseller-sim`."""
    found = shell.completed(*(f"reseller-sim {line}" for line in lines))
    assert dict(zip(lines, found, strict=True)) == {typed: f"reseller-sim {line}" for typed, line in lines.items()}


def test_verbs_flags_scenarios_files_and_ids_are_completed(name: str, tmp_path: Path) -> None:
    a_shell = made(name, tmp_path, NO_SIMULATOR)
    (a_shell.folder / "mine.yaml").write_text("extends: default\n")
    (a_shell.folder / "more").mkdir()
    (a_shell.folder / "notes.txt").touch()
    check(
        a_shell,
        {
            "adv": "advance ",
            "serve --callback ": "serve --callback ",
            "serve --trust-": "serve --trust-forwarded ",
            "serve bad-d": "serve bad-day ",
            "serve min": "serve mine.yaml ",
            "serve pyp": "serve pyp",
            "check min": "check mine.yaml ",
            "check not": "check notes.txt ",
            "assumptions failed-w": "assumptions failed-wallet ",
            "serve --clock man": "serve --clock manual ",
            "call GET /v2/netw": "call GET /v2/networkstatus ",
            "sandbox n": "sandbox new ",
            "sandbox new --clock man": "sandbox new --clock manual ",
            "trigger prod": "trigger product.updated ",
            "exec --junit not": "exec --junit notes.txt ",
            "exec bad-day -- not": "exec bad-day -- notes.txt ",
        },
    )


def test_values_of_a_running_simulator_are_completed_and_never_executed(
    name: str, tmp_path: Path, asking: Asking
) -> None:
    for refid in ("order-1", "evil-$(touch here)"):
        asking.pay(refid)
    a_shell = made(name, tmp_path, asking.url, asking.sandbox)
    rest = asking.sandbox[:-2]
    check(
        a_shell,
        {
            "story ord": "story order-1 ",
            "trigger callback ord": "trigger callback order-1 ",
            f"requests --sandbox {rest}": f"requests --sandbox {asking.sandbox} ",
            f"sandbox rm {rest}": f"sandbox rm {asking.sandbox} ",
            "rule rm paym": "rule rm payments-1 ",
            "inbox call": "inbox callbacks ",
        },
    )
    a_shell.completed("reseller-sim story evil")
    assert list(a_shell.folder.iterdir()) == []


def test_a_simulator_that_is_down_or_hangs_is_not_waited_for(name: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for number, port in enumerate((1, silent.getsockname()[1])):
            (tmp_path / str(number)).mkdir()
            variables = {"RESELLER_SIM_URL": f"http://127.0.0.1:{port}"}
            check(shell(name, tmp_path / str(number), variables, DEADLINE_S), {"story ord": "story ord"})
