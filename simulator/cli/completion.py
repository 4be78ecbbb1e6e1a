"""`reseller-sim completion`, with the words that shells complete: scenarios, files, assumptions, and objects of a
running simulator.

A shell waits for the answer, so the request to a simulator has a short timeout. Without an answer nothing is
offered.
"""

import re
from collections.abc import Callable, Iterable
from os import environ
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from simulator.cli.output import echo
from simulator.cli.usage import verb

ASK_S = 0.5
VARIABLE = "_RESELLER_SIM_COMPLETE"
ZSH_SECOND_LINE = "\n(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
BEHIND_DASHES = "simulator.cli.completion.behind_dashes"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_PLAIN = re.compile(r"[A-Za-z0-9_.,:/@%+=-]+")


def scenarios(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return files, which the shell completes, and the names of bundled scenarios, except after the `--` of `exec`."""
    from simulator.scenario.reading.scenario_files import names

    is_behind = bool(ctx.meta.get(BEHIND_DASHES))
    return [CompletionItem(incomplete, type="file"), *([] if is_behind else _beginning(names(), incomplete))]


def scenario_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the words after `scenarios`."""
    before = ctx.params.get("action") or ()
    if not before:
        return _beginning(("show", "magic", "schema"), incomplete)
    return scenarios(ctx, param, incomplete) if before == ("show",) else []


def assumptions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the register."""
    from simulator.contract.register import assumptions as register

    return _beginning((entry.id for entry in register()), incomplete)


def methods(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Methods of the service."""
    from simulator.contract.endpoints import endpoints

    return _beginning(dict.fromkeys(endpoint.method for endpoint in endpoints()), incomplete)


def paths(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Paths of the service that have this method."""
    from simulator.contract.endpoints import endpoints

    method = str(ctx.params.get("method") or "").upper()
    return _beginning((endpoint.path for endpoint in endpoints() if endpoint.method == method), incomplete)


def products(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes of the default scenario's products."""
    from simulator.scenario.library import load_scenario

    return _beginning(load_scenario("default").catalog.products, incomplete)


def inboxes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Inboxes that callbacks of the sandbox went to, and the default scenario's."""
    found = _asked(ctx, "/callbacks")
    urls = [row["url"] for row in found.get("callbacks", ())]
    names = [url.removeprefix("inbox:") for url in urls if url.startswith("inbox:")]
    return _beginning(dict.fromkeys(["callbacks", *names]), incomplete)


def _asked(ctx: click.Context, path: str, *, is_root: bool = False) -> dict[str, Any]:
    from simulator.cli.control import Control

    flags = ctx.params
    try:
        control = Control(flags.get("url"), flags.get("sandbox") or "default", flags.get("control_token"))
        answer: dict[str, Any] = control.ask("GET", path, is_root=is_root, timeout_s=ASK_S)
    except click.ClickException:
        return {}
    return answer


def _beginning(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the words with this prefix, without words that the shell would misread: clients choose refids. Bash
    inserts a word unquoted. Zsh and fish quote it, so for them only unprintable words are left out."""
    quotes = environ.get(VARIABLE, "").startswith(("zsh", "fish"))
    usable = str.isprintable if quotes else _PLAIN.fullmatch
    return [CompletionItem(word) for word in words if word.startswith(incomplete) and word and usable(word)]


def _of_words(*words: str) -> Complete:
    return lambda ctx, param, incomplete: _beginning(words, incomplete)


def _of_simulator(path: str, member: str, *names: str, is_root: bool = False) -> Complete:
    """Return a completion of the objects that a running simulator lists at a path, by the first field that they
    have."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = _asked(ctx, path, is_root=is_root)
        rows = found.get(member, ())
        return _beginning((next(filter(None, map(row.get, names)), "") for row in rows), incomplete)

    return complete


clock_modes = _of_words("real", "manual", "x60")
clock_actions = _of_words("real", "manual", "x60", "stop")
product_changes = _of_words("on", "off", "default")
sandboxes = _of_simulator("/sandboxes", "sandboxes", "id", is_root=True)
rules = _of_simulator("/rules", "rules", "id")
rule_names = _of_simulator("/rules", "rules", "name", "id")
refids = _of_simulator("/transactions", "transactions", "refid")
marks = _of_simulator("/marks", "marks", "name")
holds = _of_simulator("/holds", "holds", "name")


class Zsh(ZshComplete):
    """With a script that can also be evaluated where completion was not yet set up."""

    def source(self) -> str:
        """Return the script; its first line is for files that compinit finds."""
        return super().source().replace("\n", ZSH_SECOND_LINE, 1)


SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": Zsh, "fish": FishComplete}


@verb(
    "completion",
    "echo 'eval \"$(reseller-sim completion bash)\"' >> ~/.bashrc",
    "fish > ~/.config/fish/completions/reseller-sim.fish",
)
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def completion_command(ctx: click.Context, /, shell: str) -> None:
    """Load it from the start-up file of the shell. It completes verbs, flags, scenarios, files, ids of assumptions, and
    from the simulator running at --url: sandboxes, rules, inboxes and payments.
    """
    program = ctx.find_root()
    echo(SHELLS[shell](program.command, {}, str(program.info_name), VARIABLE).source(), nl=False)
