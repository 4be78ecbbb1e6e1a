"""Completions of shells, requested as their scripts do."""

import shutil
import subprocess

import pytest

from tests.support.asking import Asking
from tests.support.runner import invoke

NO_SIMULATOR = "http://127.0.0.1:1"


def completed(*words: str, url: str = NO_SIMULATOR, sandbox: str = "default") -> list[str]:
    """Return the completions of the last word for bash."""
    variables = {"_RESELLER_SIM_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["reseller-sim", *words])}
    variables |= {"COMP_CWORD": str(len(words)), "RESELLER_SIM_URL": url, "RESELLER_SIM_SANDBOX": sandbox}
    done = invoke(**variables)  # type: ignore[arg-type]  # none of them is the body
    assert (done.exit_code, done.stderr) == (0, "")
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("adv",), "advance"),
        (("serve", "bad-d"), "bad-day"),
        (("serve", "pyp"), "pyp"),
        (("serve", "--callb"), "--callback"),
        (("check", "scenarios/def"), "scenarios/def"),
        (("rule", "add", "faults", "-f", "scenarios/def"), "scenarios/def"),
        (("scenarios", "sh"), "show"),
        (("scenarios", "show", "bad-d"), "bad-day"),
        (("assumptions", "failed-w"), "failed-wallet"),
        (("sandbox", "n"), "new"),
        (("sandbox", "new", "bad-d"), "bad-day"),
        (("rule", "add", "f"), "faults"),
        (("trigger", "prod"), "product.updated"),
        (("trigger", "product.updated", "ELEC"), "ELECTRIC"),
        (("clock", "st"), "stop"),
        (("network", "ELEC"), "ELECTRIC"),
        (("network", "ELECTRIC", "of"), "off"),
        (("product", "ELEC"), "ELECTRIC"),
        (("product", "ELECTRIC", "of"), "off"),
        (("inbox", "call"), "callbacks"),
        (("completion", "z"), "zsh"),
        (("exec", "bad-d"), "bad-day"),
        (("exec", "--cov"), "--coverage"),
        (("serve", "--clock", "man"), "manual"),
        (("call", "P"), "POST"),
        (("call", "GET", "/v2/bal"), "/v2/balance"),
        (("call", "GET", "/v2/top"), None),
        (("mark", "a"), "add"),
        (("rule", "rm", ""), None),
        (("rewind", ""), None),
        (("story", ""), None),
        (("audit", "--sandbox", ""), None),
    ],
)
def test_completion_without_a_simulator_offers_static_values(words: tuple[str, ...], offered: str | None) -> None:
    found = completed(*words)
    assert (offered in found) if offered is not None else found == []


def test_completion_offers_values_of_a_running_simulator_that_are_safe_for_a_shell(asking: Asking) -> None:
    for refid in ("order-1", "order-2", "order-$(true)", "order 3"):
        asking.pay(refid)
    at = {"url": asking.url, "sandbox": asking.sandbox}
    assert set(completed("story", "order", **at)) == {"order-1", "order-2"}
    assert set(completed("trigger", "callback", "order-", **at)) == {"order-1", "order-2"}
    assert asking.sandbox in completed("sandbox", "rm", "sb-", **at)
    assert asking.sandbox in completed("requests", "--sandbox", "sb-", **at)
    assert "payments-1" in completed("rule", "rm", "pay", **at)
    asking.json("rule", "add", "payments", "--name", "failing", "--status", "Failed")
    assert completed("requests", "--rule", "fail", **at) == ["failing"]
    assert set(completed("requests", "--refid", "order", **at)) == {"order-1", "order-2"}
    asking.json("mark", "add", "ordered")
    for words in (("rewind",), ("fork",), ("mark", "rm")):
        assert completed(*words, "ord", **at) == ["ordered"]


@pytest.mark.parametrize("where", [{"sandbox": "gone"}, {"sandbox": "no/such"}, {"url": "nonsense"}])
def test_completion_offers_nothing_when_the_simulator_cannot_be_asked(where: dict[str, str], asking: Asking) -> None:
    assert completed("story", "order", **{"url": asking.url, "sandbox": asking.sandbox} | where) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_of_its_own(shell: str) -> None:
    script = invoke("completion", shell).stdout
    assert f"_RESELLER_SIM_COMPLETE={shell}_complete" in script
    is_zsh = shell == "zsh"
    assert script.startswith("#compdef reseller-sim\n(( $+functions[compdef] )) || { autoload -Uz compinit") == is_zsh
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script.encode(), check=True)
