"""The command as a whole: help that teaches, verbs that are imported when used, errors on one line."""

import subprocess
import sys

import click
import pytest

from simulator import __version__
from simulator.cli.main import cli
from simulator.cli.verbs import VERBS
from tests.support.processes import environment
from tests.support.runner import invoke, refusal

LIGHT = [
    "serve",
    "exec",
    "watch",
    "call",
    "clock",
    "journal",
    "inbox",
    "rule",
    "sandbox",
    "audit",
    "mcp",
    "completion",
]
"""The modules of verbs that ask a server, or whose time counts. The others import what they always need."""

SLOW = ("uvicorn", "starlette", "asyncio", "yaml", "jsonschema_rs", "msgspec", "faker")


def verb_of(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def imported(*arguments: str) -> set[str]:
    """The slow modules that a verb has imported by its end, in a fresh process."""
    script = (
        "import sys\n"
        "from simulator.cli.main import cli\n"
        "try:\n    cli.main(sys.argv[1:])\n"
        f"except SystemExit:\n    print(*sorted(set({SLOW!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, env=environment()
    )
    return set(done.stderr.split())


def test_help_lists_every_verb() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    for name, verb in VERBS.items():
        assert f"  {name} " in result.stdout
        assert verb.help in " ".join(result.stdout.split())


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_has_a_summary_a_paragraph_and_an_example(name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"reseller-sim {name}" in result.stdout.partition("Examples:")[2]
    text = verb_of(name).help
    assert text is not None
    summary, paragraph, *_ = text.split("\n\n")
    assert summary == VERBS[name].help
    assert len(paragraph) > 80


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_and_of_its_words_has_two_examples(name: str) -> None:
    verb = verb_of(name)
    for command in [verb, *(verb.commands.values() if isinstance(verb, click.Group) else ())]:
        examples = str(command.help).partition("Examples:")[2].splitlines()
        assert len(list(filter(str.strip, examples))) >= 2, command.name


def test_help_and_version_import_nothing_slow() -> None:
    assert imported("--help") == set()
    assert imported("--version") == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, verb in VERBS.items() if verb.module in LIGHT])
def test_help_of_a_verb_that_asks_a_server_imports_nothing_slow(name: str) -> None:
    assert imported(name, "--help") == set()


def test_signing_with_given_credentials_imports_nothing_slow() -> None:
    assert imported("sign", "GET", "/v2/balance", "--key", "k", "--secret", "c2VjcmV0") == set()


def test_signing_with_the_default_credentials_imports_no_server() -> None:
    assert not imported("sign", "GET", "/v2/balance") & {"uvicorn", "starlette"}


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_printed(flag: str) -> None:
    assert invoke(flag).stdout == f"reseller-sim {__version__}\n"


def test_without_a_verb_the_help_is_shown_as_wrong_usage() -> None:
    result = invoke()
    assert result.exit_code == 2
    assert "\nServe and test:\n" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("deposit", "-5"), "No verb takes a number below 0."),
        (("advance", "-1.5h"), "No verb takes a number below 0."),
        (("serve", "--host", "*"), "'*' is not an address; write 0.0.0.0 for all addresses"),
        (("serve", "--host", "127.0.0.1:9000"), "has a port; give it with --port"),
        (("serve", "--host", "[::1]:9000"), "has a port; give it with --port"),
        (("sandbox", "new", "--scenario", "bad-day"), "--scenario"),
        (("frobnicate",), "there is no verb 'frobnicate'"),
        (("servee",), "there is no verb 'servee' (did you mean 'serve'?)"),
        (("--verbose",), "--verbose"),
        (("serve", "--clok", "manual"), "No such option '--clok'. Did you mean '--clock'? (see"),
        (("exec", "--watch", "--", "true"), "No such option '--watch'. It is an option of serve. (see"),
        (("exec", "--drain=3s", "--", "true"), "No such option '--drain'. It is an option of serve. (see"),
        (("serve", "--frob"), "No such option '--frob'. (see"),
        (("rule", "rm", "--json"), "No such option '--json'. (see"),
        (("call", "POST", "/v2/topup", '{"refid": "r1"}'), '({"refid": "r1"}). Put -d before a body. (see'),
        (("sign", "POST", "/v2/topup", "{}"), "Put -d before a body. (see"),
        (("openapi", "extra"), "extra"),
        (("check",), "FILE"),
    ],
)
def test_wrong_usage_is_reported_on_one_line_that_names_the_help(arguments: tuple[str, ...], hint: str) -> None:
    line = refusal(invoke(*arguments), 2)
    assert hint in line
    assert line.endswith("--help)")


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--clock", "fast"), "real, manual, x60"),
        (("--clock", "x0"), "from 0.01"),
        (("--clock", "x-1"), "real, manual, x60"),
        (("--clock", "x1e9"), "real, manual, x60"),
        (("--start", "tomorrow"), "must be an ISO 8601 time"),
        (("--start", "2027-01-10T23:59:00"), "needs an offset"),
        (("--start", "0001-01-01T00:00:00+14:00"), "must be between"),
        (("--start", "2500-01-01T00:00:00Z"), "must be between"),
        (("--port", "65536"), "--port"),
        (("--port", "http"), "--port"),
        (("--seed", "-1"), "--seed"),
        (("--seed", str(2**63)), "--seed"),
        (("--sandbox-ttl", "0"), "above 0"),
        (("--sandbox-ttl", "nan"), "is not a duration"),
        (("--sandbox-ttl", "soon"), "is not a duration"),
        (("--tape-budget", "-1"), "--tape-budget"),
        (("--tape-budget", "1GiB"), "--tape-budget"),
        (("--callbacks", "some"), "public"),
        (("--callbacks-ca", __file__), "has no certificates"),
        (("--callbacks-ca", "no-such-file"), "does not exist"),
        (("--callback", "example.com"), "cannot be called back"),
        (("--callback", "http://169.254.169.254/"), "cannot be called back"),
        (("--callback", "inbox:"), "an inbox name is"),
        (("--callback", "http://localhost/é"), "other than ASCII"),
        (("--control-token", ""), "visible ASCII"),
        (("--control-token", "two words"), "visible ASCII"),
        (("--control-token-file", "no-such-file"), "cannot be read: No such file"),
        (("--control-token-file", "/"), "cannot be read: Is a directory"),
        (("--control-token-file", "/dev/null"), "one line with a token"),
        (("--control-token-file", "/dev/zero"), "one line with a token"),
        (("--control-token-file", __file__), "one line with a token"),
        (("--control-token-file", ""), "cannot be read"),
        (("one.yaml", "two.yaml"), "two.yaml"),
    ],
)
@pytest.mark.parametrize("verb", ["serve", "exec"])
def test_a_bad_flag_of_the_server_is_wrong_usage(verb: str, flags: tuple[str, ...], hint: str) -> None:
    command = ("--", "true") if verb == "exec" else ()
    assert hint in refusal(invoke(verb, *flags, *command), 2)


@pytest.mark.parametrize(
    ("verb", "arguments", "status"),
    [
        ("serve", ("--callback", "http://me:unseen@localhost/?token=unseen"), 2),
        ("proxy", ("--upstream", "http://me:unseen@localhost/?token=unseen"), 2),
        ("deposit", ("10", "--url", "http://me:unseen@127.0.0.1:9/"), None),
        ("listen", ("--to", "http://me:unseen@localhost/?token=unseen", "--url", "http://127.0.0.1:9"), None),
        ("conform", ("--url", "http://me:unseen@127.0.0.1:9/?token=unseen"), None),
        ("explain", ("GET", "http://me:unseen@[/"), None),
    ],
)
def test_an_error_repeats_no_credentials_of_an_address(
    verb: str, arguments: tuple[str, ...], status: int | None
) -> None:
    done = invoke(verb, *arguments)
    assert done.exit_code == status or (status is None and done.exit_code in (1, 2, 3))
    assert done.output
    assert "unseen" not in done.output


def test_an_error_of_a_file_is_not_reported_as_one_of_stdout() -> None:
    name = "a" * 300
    done = subprocess.run(
        [sys.executable, "-m", "simulator", "data", "check", name], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 3
    assert done.stderr.startswith(f"reseller-sim: {name}")


@pytest.mark.parametrize("arguments", [(), ("npm", "test"), ("--",), ("--clock", "manual")])
def test_exec_without_a_command_after_the_dashes_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert "reseller-sim exec -- npm test" in refusal(invoke("exec", *arguments), 2)


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        ("no colon", "not a header"),
        ("näme: x", "not a header"),
        ("a b: x", "not a header"),
        ("A: \x01", "is not a header"),
    ],
)
def test_a_bad_header_is_wrong_usage(headers: str, hint: str) -> None:
    assert hint in refusal(invoke("call", "GET", "/", "-H", headers), 2)
