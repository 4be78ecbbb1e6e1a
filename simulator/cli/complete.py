"""What shells complete: names of scenarios, files, assumptions, and what a running simulator has.

A shell waits for the answer, so a simulator is asked for a moment only; without one there is nothing to offer, and
nothing is printed.
"""

import re
from collections.abc import Iterable
from os import environ
from typing import Any

import click
from click.shell_completion import CompletionItem

ASK_S = 0.5
YAML = (".yaml", ".yml")
VARIABLE = "_RESELLER_SIM_COMPLETE"
BEHIND_DASHES = "simulator.cli.complete.behind_dashes"
_PLAIN = re.compile(r"[A-Za-z0-9_.,:/@%+=-]+")


def scenarios(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of bundled scenarios, and files; behind `--` of `exec` what a shell completes by itself."""
    if ctx.meta.get(BEHIND_DASHES):
        return [CompletionItem(incomplete, type="file")]
    from simulator.scenario.reading.files import names

    return [*_beginning(names(), incomplete), *yaml_files(ctx, param, incomplete)]


def scenario_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words behind `scenarios`."""
    before = ctx.params.get("action") or ()
    if not before:
        return _beginning(("show", "magic", "schema"), incomplete)
    return scenarios(ctx, param, incomplete) if before == ("show",) else []


def yaml_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Folders and YAML files."""
    from pathlib import Path

    folder, slash, name = incomplete.rpartition("/")
    try:
        listed = sorted(Path(folder + slash or ".").iterdir())
    except (OSError, ValueError):
        return []
    paths = [f"{folder}{slash}{one.name}{'/' if one.is_dir() else ''}" for one in listed]
    shown = [one for one in paths if name.startswith(".") or not one.rpartition("/")[2].startswith(".")]
    return _beginning([one for one in shown if one.endswith(("/", *YAML))], incomplete)


def assumptions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the register."""
    from simulator.contract.register import assumptions as register

    return _beginning((one.id for one in register()), incomplete)


def clock_modes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words of `--clock`, with one rate as an example."""
    return _beginning(("real", "manual", "x60"), incomplete)


def clock_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words behind `clock`."""
    return _beginning(("real", "manual", "x60", "stop"), incomplete)


def product_changes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words behind `product CODE`."""
    return _beginning(("on", "off", "default"), incomplete)


def methods(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Methods of the service."""
    from simulator.contract.endpoints import endpoints

    return _beginning(dict.fromkeys(one.method for one in endpoints()), incomplete)


def paths(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Paths of the service that have this method."""
    from simulator.contract.endpoints import endpoints

    method = str(ctx.params.get("method") or "").upper()
    return _beginning((one.path for one in endpoints() if one.method == method), incomplete)


def sandboxes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the running simulator's sandboxes."""
    found = _asked(ctx, "/sandboxes", "sandboxes-answer", is_root=True)
    return _beginning((one["id"] for one in found.get("sandboxes", ())), incomplete)


def rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the sandbox's rules."""
    found = _asked(ctx, "/rules", "rules-answer")
    return _beginning((one["id"] for one in found.get("rules", ())), incomplete)


def refids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Refids of the sandbox's latest payments."""
    found = _asked(ctx, "/transactions", "transactions-answer")
    return _beginning((one["refid"] for one in found.get("transactions", ())), incomplete)


def marks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the sandbox's marks."""
    found = _asked(ctx, "/marks", "marks-answer")
    return _beginning((one["name"] for one in found.get("marks", ())), incomplete)


def holds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of holds in which something waits."""
    found = _asked(ctx, "/holds", "holds-answer")
    return _beginning((one["name"] for one in found.get("holds", ())), incomplete)


def products(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes of the default scenario's products."""
    from simulator.scenario.library import load_scenario

    return _beginning(load_scenario("default").catalog.products, incomplete)


def inboxes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Inboxes that callbacks of the sandbox went to, and the default scenario's."""
    found = _asked(ctx, "/callbacks", "callbacks-answer")
    urls = [one["url"] for one in found.get("callbacks", ())]
    names = [url.removeprefix("inbox:") for url in urls if url.startswith("inbox:")]
    return _beginning(dict.fromkeys(["callbacks", *names]), incomplete)


def _asked(ctx: click.Context, path: str, answers: str, *, is_root: bool = False) -> dict[str, Any]:
    from simulator.cli.control import Control

    flags = ctx.params
    try:
        control = Control("", flags.get("url"), flags.get("sandbox") or "default", flags.get("control_token"))
        answer: dict[str, Any] = control.get(path, answers, is_root=is_root, timeout_s=ASK_S)
    except click.ClickException:
        return {}
    return answer


def _beginning(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The words that begin like this, but for those that a shell would not take as they are: clients choose refids.
    Bash takes a word as it comes; zsh and fish quote it, so that only what is no text of one line is left out."""
    quotes = environ.get(VARIABLE, "").startswith(("zsh", "fish"))
    usable = str.isprintable if quotes else _PLAIN.fullmatch
    return [CompletionItem(word) for word in words if word.startswith(incomplete) and word and usable(word)]
