"""Render docs/cli.md from the commands of `reseller-sim`: the help of each verb, its examples and its flags."""

import re
from collections.abc import Iterator

import click

from simulator.cli.main import cli
from simulator.cli.usage import PROGRAM
from simulator.cli.verbs import VERBS
from tools.tables import cell, markdown

EXAMPLES = "Examples:"
WIDTH = 10_000  # nothing is wrapped

_INTRODUCTION = """\
<!-- Generated from simulator/cli by `make docs`; change it there. -->

# Command line

Look up a verb and its flags: `reseller-sim VERB`, or `python -m reseller_sim VERB`. `reseller-sim VERB --help`
prints the same. The [quick start](quickstart.md) shows the verbs at work.

"""
_COMMON = """
**Exit codes.** 0 success; 1 a negative result; 2 wrong usage; 3 could not start, no answer, or stdout cannot be
written; 130 interrupted by Ctrl-C. Errors go to stderr, one line for each problem.

**Variables.** A flag with a variable in its table can be set by it. The command line takes precedence. A switch is
on for `1` or `true`. A repeatable flag takes several values from its variable, separated by spaces (headers by
newlines).

**Output.** Verbs print text. `--output json`, or its short form `--json`, prints the JSON of the control API;
`RESELLER_SIM_OUTPUT=json` does so for all verbs that have it, unless `--output text` is given. On a terminal, tables
have its width, in colour unless `NO_COLOR` is set. Control characters are printed as escapes.

**Times.** Text shows times in the service's zone, GMT+8; `--utc` or `RESELLER_SIM_UTC=1` shows UTC. `DURATION` is
written as in scenario files, such as `90s`, `1h30m` or `500ms`, or as a number of seconds.

**A running simulator.** Verbs that use the control API find it by `--url`, `--sandbox` and `--token`. Without
`RESELLER_SIM_TOKEN`, they take the token from `RESELLER_SIM_CONTROL_TOKEN`. For an `https` address with a private
CA or a self-signed certificate, set its file in `RESELLER_SIM_CA`.
"""
_DETAILS = {
    "serve": "[Time](time.md) explains clocks, [a team's server](shared-staging.md) tokens, TLS and quotas, "
    "[the data folder](data.md) `--data-dir`, and [many machines](scale.md) `--store`.",
    "exec": "[Run it in CI](run-it-in-ci.md) shows it at work.",
    "explore": "[Explore](explore.md) shows it at work.",
    "tail": "See [watching.md](watching.md).",
    "listen": "See [watching.md](watching.md).",
    "explain": "See [debug a signature](debug-a-signature.md).",
    "sign": "See [signing.md](signing.md).",
    "advance": "See [time.md](time.md).",
    "rule": "See [scenario files](scenarios.md#rules).",
    "hold": "See [holds](scenarios.md#holds).",
    "mark": "See [the tape](tape.md#marks-rewind-fork).",
    "rewind": "See [the tape](tape.md#marks-rewind-fork).",
    "fork": "See [the tape](tape.md#marks-rewind-fork).",
    "expectations": "See [expectations](scenarios.md#expectations).",
    "import": "See [import.md](import.md).",
    "check": "See [the findings of `check`](scenarios.md#findings-of-check).",
    "prove": "See [prove a change](explore.md#prove-a-change).",
    "replay": "See [the tape](tape.md#replay-it).",
    "data": "See [the data folder](data.md).",
    "audit": "See [the audit](audit.md).",
    "conform": "See [conform.md](conform.md).",
    "proxy": "See [proxy.md](proxy.md).",
    "assumptions": "See [the register](assumptions.md).",
    "openapi": "See [generate a client](generate-a-client.md) and [Postman or Bruno](collections.md).",
}


def as_markdown() -> str:
    """Return the content of `docs/cli.md`."""
    groups = dict.fromkeys(verb.group for verb in VERBS.values())
    table = markdown([("", "verbs"), *((group, _verbs(group)) for group in groups)])
    root = click.Context(cli, info_name=PROGRAM, terminal_width=WIDTH, max_content_width=WIDTH)
    return f"{_INTRODUCTION}{table}\n{_COMMON}" + "".join(f"\n{part}\n" for verb in VERBS for part in _verb(root, verb))


def _verbs(group: str) -> str:
    verbs = [f"[`{name}`](#{name})" for name, verb in VERBS.items() if verb.group == group]
    return ", ".join(verbs)


def _verb(root: click.Context, verb: str) -> Iterator[str]:
    command = cli.get_command(root, verb)
    assert command is not None
    yield f"## {verb}"
    yield from _command(command, root, verb)
    if verb in _DETAILS:
        yield _DETAILS[verb]
    if isinstance(command, click.Group):
        parent = click.Context(command, parent=root, info_name=verb)
        for name, child in command.commands.items():
            yield f"### {verb} {name}"
            yield from _command(child, parent, name)


def _command(command: click.Command, parent: click.Context, name: str) -> Iterator[str]:
    ctx = click.Context(command, parent=parent, info_name=name, **command.context_settings)
    text, _, examples = (command.help or "").replace("\b", "").partition(EXAMPLES)
    yield f"`{ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}`"
    yield from (_paragraph(one) for one in re.split(r"\n\s*\n", text) if one.strip())
    if examples.strip():
        lines = "\n".join(line.strip() for line in examples.strip().splitlines())
        yield f"```sh\n{lines}\n```"
    rows = [_row(option, ctx) for option in command.params if isinstance(option, click.Option) and not option.hidden]
    if rows:
        yield markdown([("flag", "meaning", "variable"), *rows])


def _paragraph(text: str) -> str:
    parts = " ".join(text.split()).split("`")  # every second one is code
    parts[::2] = (re.sub(r"(?<!\w)(--?[a-z][\w-]*)(?!\w)", r"`\1`", one).replace("<", "\\<") for one in parts[::2])
    return "`".join(parts)


def _row(option: click.Option, ctx: click.Context) -> tuple[str, str, str]:
    names, _ = option.get_help_record(ctx) or ("", "")
    extra = option.get_help_extra(ctx)
    notes = [f"[default: {extra['default']}]"] if "default" in extra else []
    meaning = " ".join([option.help or "", *notes])
    prefix = ctx.auto_envvar_prefix
    variables = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    if not variables and option.allow_from_autoenv and prefix:
        variables = [f"RESELLER_SIM_{str(option.name).upper()}"]
    shown = ", ".join(f"`{one}`" for one in variables)
    return f"`{cell(names)}`", cell(meaning), shown
