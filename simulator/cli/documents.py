"""`reseller-sim scenarios`, `check`, `openapi` and `assumptions`: documents, which need no server."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import click
import yaml

from simulator.cli import completion
from simulator.cli.call import read_file
from simulator.cli.flags import json_flag, option, output_flag
from simulator.cli.output import echo, echo_json, printable, printable_json
from simulator.cli.reports.report_cases import UNWRITABLE, ReportCase, Reports, Suite, as_json, report_flags
from simulator.cli.usage import BadResult, CannotStart, verb, with_title, wrong_usage
from simulator.contract.files import data_dir
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled, postman_collection
from simulator.contract.register import Assumption, assumptions
from simulator.scenario.library import descriptions, load_scenario, problems, text
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.short_text import whole_line
from simulator.whole_files import write_whole
from simulator.wire.formats import encode


@verb("scenarios", "show default > mine.yaml", "schema > scenario.schema.json")
@click.argument(
    "action", metavar="[show NAME|FILE | magic | schema]", nargs=-1, shell_complete=completion.scenario_actions
)
@json_flag(help="Print JSON: with show the scenario merged with all that it extends, as the simulator accepts it.")
def scenarios_command(action: tuple[str, ...], json: bool) -> None:
    """Without arguments, the verb lists the bundled scenarios. `show NAME` prints a scenario, so that you can start
    your own file from it; `show FILE --json` prints your scenario with everything that it inherits.
    """
    if not action:
        found = descriptions()
        if json:
            listed = [{"name": name, "description": description} for name, description in found.items()]
            echo_json(json_module.dumps({"scenarios": listed}))
        else:
            width = max(map(len, found), default=0)
            echo("\n".join(whole_line(f"{name:<{width}}  {description}") for name, description in found.items()))
    elif action[0] == "show" and len(action) == 2:
        try:
            shown = encode(load_scenario(action[1]).document).decode() if json else text(action[1])
        except ScenarioError as error:
            lines = (problem if problem.line else with_title(problem.message) for problem in error.problems)
            raise BadResult.of_problems(lines) from None
        if json:
            echo_json(shown)
        else:
            echo(shown, nl=False)
    elif action == ("magic",):
        _show_magic(json)
    elif action == ("schema",):
        echo((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"), nl=False)
    else:
        raise wrong_usage("write `scenarios` for the list, or `show NAME`, `show FILE`, `magic` or `schema` after it")


def _show_magic(json: bool) -> None:
    magic = load_scenario("default").magic
    seconds: dict[str, int | None] = {"0": None} | {
        digit: round(span.total_seconds()) for digit, span in magic.durations.items()
    }
    if json:
        durations = [{"digit": digit, "seconds": span} for digit, span in seconds.items()]
        outcomes = [{"digits": code, "outcome": text} for code, text in magic.outcomes.items()]
        echo_json(json_module.dumps({"account": "0000DOO", "durations": durations, "outcomes": outcomes}))
        return
    echo("An account is magic when its last seven digits are 0000DOO; all others are ordinary.")
    echo("\nD   how long it takes")
    for digit, span in seconds.items():
        echo(f"{digit}   {'as usual' if span is None else f'{span} seconds'}")
    echo("\nOO  what happens")
    for code, outcome in magic.outcomes.items():
        echo(f"{code}  {outcome}")


@verb("check", "scenarios/*.yaml", "--format github scenarios/*.yaml")
@report_flags
@output_flag
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def check_command(files: tuple[Path, ...], output: str, **flags: Any) -> int:
    """Each problem is a line, `file:line:column: code message`, a form that editors understand. A problem is an error,
    or a part without effect, such as a rule that never applies because an earlier rule always matches.
    """
    reports = Reports(**flags)
    is_json = output == "json" and reports.format == "text"
    suites = []
    for file in files:
        found = problems(file)
        suites.append(_suite_of(file, found))
        if reports.format == "text" and not is_json:
            for problem in found:
                echo(whole_line(problem))
        if not found and not is_json:
            echo(whole_line(f"{file}: ok"))
    if is_json:
        echo_json(as_json(suites).decode().rstrip())
    is_written = reports.write(suites)
    reports.show(suites)
    if not is_written:
        return UNWRITABLE
    return 0 if all(suite.ok for suite in suites) else 1


def _suite_of(file: Path, found: list[Problem]) -> Suite:
    cases = [
        ReportCase(
            name=f"{one.code} {one.path}".strip() + (f" (line {one.line})" if one.line else ""),
            ok=False,
            message=one.message,
            code=one.code,
            file=one.source,
            line=one.line,
            column=one.column,
        )
        for one in found
    ]
    return Suite(str(file), tuple(cases) or (ReportCase("no problems", ok=True, file=str(file)),))


WIDTH = 100


@verb("openapi", "> openapi.yaml", "--as postman > reseller.postman_collection.json")
@option("--control", is_flag=True, help="The control API's contract instead of the reseller API's.")
@option("--proxy", is_flag=True, help="The contract of the proxy's control API instead.")
@json_flag(help="JSON instead of YAML.")
@option(
    "--as",
    type=click.Choice(["postman"]),
    help="Write signed and checked requests instead of the document: a Postman collection.",
)
@option("--to", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file.")
def openapi_command(control: bool, proxy: bool, json: bool, to: Path | None, **forms: str | None) -> None:
    """The simulator validates requests against this contract. All schemas are included. With --as, the output is a
    collection of requests that can be sent at once: every operation, the test credentials, and a script that signs.
    """
    form = forms["as"]  # a keyword, so no parameter can be called so
    if form is not None and json:
        raise wrong_usage(f"--json and --as {form} exclude each other")
    if proxy and (control or form):
        raise wrong_usage("--proxy excludes --control and --as")
    name = PROXY if proxy else CONTROL if control else OPENAPI
    text = _contract_text(name, form, json)
    if to is None:
        click.echo(printable_json(text) if json else printable(text), nl=False)
        return
    try:
        write_whole(to, text.encode())
    except OSError as error:
        raise CannotStart(f"{str(to)!r} cannot be written: {error.strerror}") from None


def _contract_text(name: str, form: str | None, json: bool) -> str:
    """Return the text of a file, with a line feed at its end."""
    if form == "postman":
        return postman_collection(name)
    whole = json_module.dumps(bundled(name), ensure_ascii=False)
    if json:
        return whole + "\n"
    unshared = json_module.loads(whole)  # otherwise YAML has aliases, which are hard to read
    return yaml.safe_dump(unshared, sort_keys=False, allow_unicode=True, width=120)


@verb("assumptions", "failed-wallet", "--observed staging.json")
@click.argument("id", required=False, shell_complete=completion.assumptions)
@option(
    "--observed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Mark the assumptions with the results of this report of `conform --json-report`.",
)
@json_flag(help="Print JSON: a list, or with ID one object.")
def assumptions_command(id: str | None, observed: Path | None, json: bool) -> None:
    """Every assumption has an id, its section, the scenario key that changes it where there is one, the question, our
    choice and the reason. With ID, it prints a single assumption.
    """
    found = [assumption for assumption in assumptions() if id in (None, assumption.id)]
    if not found:
        raise BadResult(f"there is no assumption {id!r}; `reseller-sim assumptions` lists them")
    seen = None if observed is None else _read_observations(observed)
    if json:
        fields = [_assumption_fields(item, seen) for item in found]
        echo_json(json_module.dumps({"assumptions": fields} if id is None else fields[0]))
    else:
        echo("\n\n".join(_assumption_text(item) + _observation(item, seen) for item in found))


Observations = dict[str, dict[str, Any]] | None
"""By assumptions: the `value` of a knob that reproduces the behaviour of the deployment `target`, with `evidence`."""


def _assumption_fields(assumption: Assumption, seen: Observations) -> dict[str, Any]:
    """Return an entry as JSON. With a report it has `observed`, which is null if the report says nothing about the
    entry."""
    return asdict(assumption) | ({} if seen is None else {"observed": seen.get(assumption.id)})


def _observation(assumption: Assumption, seen: Observations) -> str:
    """Return the line below an entry about the report's observation."""
    if seen is None or (found := seen.get(assumption.id)) is None:
        return "" if seen is None else "\n  assumed"
    value, is_same = found["value"], bool(assumption.values) and found["value"] == assumption.values[0]
    written = value if isinstance(value, str) else json_module.dumps(value)
    what = "as assumed" if is_same else f"set {assumption.knob}: {written}"
    return "\n" + whole_line(f"  observed at {found['target']}: {what} ({found['evidence']})")


def _assumption_text(assumption: Assumption) -> str:
    values = f": {' | '.join(assumption.spellings)}" if assumption.values else ""
    knob = f"; knob {assumption.knob}{values}" if assumption.knob else ""
    paragraphs = (assumption.question, assumption.choice, f"Why: {assumption.why}")
    lines = (indent(fill(text, WIDTH, break_on_hyphens=False), "  ") for text in paragraphs)
    return "\n".join([f"{assumption.id} (SPEC {assumption.spec}{knob})", *lines])


def _read_observations(path: Path) -> dict[str, dict[str, Any]]:
    """Return the observations of a report by the assumption's id. Raises `BadResult` for any other file."""
    try:
        report = json_module.loads(read_file(str(path), "the report"))
        target, learned = report["target"], report["assume"]
        return {
            name: {"target": target, "value": one["value"], "evidence": one["evidence"]}
            for name, one in learned.items()
        }
    except click.UsageError as unreadable:
        raise BadResult(unreadable.message) from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise BadResult(f"{path} is not a report of `reseller-sim conform --json-report FILE`") from None
