"""The flags of each verb, as its parser reads them: the words that users rely on, and the options that `exec` shares
with `serve`."""

import re
import shlex
from pathlib import Path

import click
import pytest

from simulator.cli.main import cli
from simulator.cli.verbs import VERBS
from tests.support.processes import ROOT
from tests.support.runner import invoke, refusal

PAGE = (ROOT / "docs" / "run-it-in-ci.md").read_text("utf-8")
SERVER = (
    "mine.yaml --host 127.0.0.1 --port 0 --clock x60 --start 2027-01-10T12:00:00Z --seed 7 --callback inbox:shop"
    " --scenarios . --data-dir data --store postgresql://db/sim --durability power"
)
ASKING = "--url http://127.0.0.1:9 --sandbox shop --token secret --json --output json"
SIGNED = "POST /v2/topup -d {} --url http://127.0.0.1:9 --key RK --secret c2VjcmV0"
PROMISED = [
    f"serve {SERVER} --watch --json --quiet --log json",
    f"exec {SERVER} --coverage --audit --report out --junit out.xml --tape out.tape -- npm test",
    "check mine.yaml other.yaml",
    "scenarios",
    "scenarios show default",
    f"call {SIGNED}",
    f"sign {SIGNED}",
    "explain",
    "openapi --control",
    "assumptions",
    f"advance 90s {ASKING}",
    f"advance idle {ASKING}",
    f"advance to 2027-01-10 {ASKING}",
    f"inbox shop {ASKING}",
    f"requests {ASKING}",
    f"story order-1 {ASKING}",
    f"deposit 250 {ASKING}",
    "sandbox new --url http://127.0.0.1:9 --token secret --json",
    "sandbox list --url http://127.0.0.1:9 --token secret --json",
    "sandbox rm shop --url http://127.0.0.1:9 --token secret",
    f"rule add payments {{}} {ASKING}",
    f"rule list {ASKING}",
    "rule rm ID --url http://127.0.0.1:9 --sandbox shop --token secret",
    f"trigger balance.added {ASKING}",
    f"tail {ASKING}",
    "listen --forward-to http://127.0.0.1:3000 --url http://127.0.0.1:9 --sandbox shop --token secret",
    "health --url http://127.0.0.1:9 --json",
    "import --base-url https://staging.example.com --key RK --secret c2VjcmV0",
    "proxy --upstream https://staging.example.com --record seen.yaml",
    "replay failed.tape --until 40 --serve",
    "replay failed.tape --until 2027-01-10T12:00:00Z",
    "data check data",
    "data export data",
    "data compact data",
    "explore mine.yaml --minutes 1 --seed 7 --workers 2 -- npm test",
    "conform --base-url https://staging.example.com",
    "audit --url http://127.0.0.1:9",
]
OF_SERVE_ALONE = {"--watch", "--drain", "--until-stdin-ends", "--json", "--output", "--quiet", "--log"}
"""`exec` has one scenario for a run, and leaves stdin, stdout, stderr and signals to its command."""


def parse(command: click.Command, name: str, words: list[str]) -> None:
    """Read the words as a shell would give them to a verb, which does not run. Raises `click.UsageError`."""
    context = command.make_context(name, words)
    if isinstance(command, click.Group) and context._protected_args:
        word, *rest = [*context._protected_args, *context.args]
        inner = command.get_command(context, word)
        assert inner is not None, f"{name} has no word {word}"
        parse(inner, word, rest)


def options_of(verb: str) -> dict[str, click.Option]:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    found = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return {name: option for option in found for name in option.opts}


@pytest.mark.parametrize("line", PROMISED)
def test_a_verb_takes_the_flags_and_arguments_that_users_rely_on(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text("extends: default\n")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    verb, *words = shlex.split(line)
    assert verb in VERBS
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    parse(command, verb, words)


def test_exec_takes_the_options_of_serve_but_those_of_a_server_in_the_foreground() -> None:
    assert options_of("serve").keys() - options_of("exec").keys() == OF_SERVE_ALONE


def test_the_page_about_ci_lists_the_options_that_exec_lacks() -> None:
    (sentence,) = re.findall(r"`exec` takes the options of `serve` except (.*?)\.", PAGE, re.DOTALL)
    assert set(re.findall(r"--[a-z-]+", sentence)) == OF_SERVE_ALONE


def test_a_variable_for_a_team_s_server_does_not_lead_exec_to_its_data() -> None:
    shared = (options_of("serve").keys() & options_of("exec").keys()) - options_of("explore").keys()
    assert {"--data-dir", "--store", "--tls-cert", "--control-tokens", "--quota-bytes"} <= shared
    assert not [flag for flag in shared if options_of("exec")[flag].allow_from_autoenv]


@pytest.mark.parametrize(
    ("verb", "example"),
    [
        ("exec", "reseller-sim exec -- npm test"),
        ("explore", "reseller-sim explore -- npm test"),
        ("prove", "reseller-sim prove FINDING -- npm test"),
    ],
)
def test_a_verb_without_its_command_shows_how_to_give_one(verb: str, example: str) -> None:
    line = refusal(invoke(verb), 2)
    assert (
        line
        == f"reseller-sim {verb}: put -- and a command after the options: {example} (see reseller-sim {verb} --help)"
    )
