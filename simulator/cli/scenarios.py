"""`reseller-sim scenarios` and `check`: the bundled scenarios, and what is wrong with scenario files."""

import json as json_module
from pathlib import Path
from typing import Any

import click

from simulator.cli import completion
from simulator.cli.flags import json_flag, output_flag
from simulator.cli.output import echo, echo_json
from simulator.cli.reports.cases import UNWRITABLE, ReportCase, Reports, Suite, as_json, report_flags
from simulator.cli.usage import Refused, titled, verb, wrong_usage
from simulator.contract.files import data_dir
from simulator.scenario.library import descriptions, load_scenario, problems, text
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.shortened import whole_line
from simulator.wire.money import encode


@verb("scenarios")
@click.argument(
    "action", metavar="[show NAME|FILE | magic | schema]", nargs=-1, shell_complete=completion.scenario_actions
)
@json_flag(
    help="Print JSON: the list, the table, the schema, or with show the scenario merged with all that it extends, as "
    "`sandbox new` and POST /_sim/sandboxes accept it."
)
def scenarios_command(action: tuple[str, ...], json: bool) -> None:
    """Print bundled scenarios, magic accounts or the JSON Schema.

    Without arguments, the verb lists the bundled scenarios. `show NAME` prints a scenario, so that you can start your
    own file from it. A file with `extends: NAME` inherits everything from that scenario. `show FILE --json` prints your
    scenario with everything that it inherits. Exit code 1 means that the file cannot be used; stderr has the reason, in
    the form of `check`.

    \b
    Examples:
      reseller-sim scenarios
      reseller-sim scenarios show default > mine.yaml
      reseller-sim scenarios show mine.yaml --json
      reseller-sim scenarios magic
      reseller-sim scenarios schema > scenario.schema.json
    """
    if not action:
        _list(json)
    elif action[0] == "show" and len(action) == 2:
        _show(action[1], json)
    elif action == ("magic",):
        _magic(json)
    elif action == ("schema",):
        echo((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"), nl=False)
    else:
        usage = (
            "write `scenarios` for the list, `scenarios show NAME` or `show FILE` for one, `scenarios magic` for the "
            "magic accounts, `scenarios schema` for the JSON Schema of scenario files"
        )
        raise wrong_usage(usage)


def _list(json: bool) -> None:
    found = descriptions()
    if json:
        listed = [{"name": name, "description": description} for name, description in found.items()]
        echo_json(json_module.dumps({"scenarios": listed}))
        return
    width = max(map(len, found), default=0)
    for name, description in found.items():
        echo(whole_line(f"{name:<{width}}  {description}"))


def _show(wanted: str, json: bool) -> None:
    try:
        if json:
            echo_json(encode(load_scenario(wanted).document).decode())
        else:
            echo(text(wanted), nl=False)
    except ScenarioError as error:
        raise Refused.of_problems(one if one.line else titled(one.message) for one in error.problems) from None


def _magic(json: bool) -> None:
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


@verb("check")
@report_flags
@output_flag
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=completion.yaml_files,
)
def check_command(files: tuple[Path, ...], output: str, **flags: Any) -> int:
    """Report the problems of scenario files.

    Each problem is a line, `file:line:column: code message`, a form that editors understand. A problem is an error, or
    a part without effect, such as a rule that never applies because an earlier rule always matches. A file without
    problems is `ok`. Exit code 1 means that there are problems, 3 that a report could not be written.

    \b
    Examples:
      reseller-sim check mine.yaml
      reseller-sim check scenarios/*.yaml
      reseller-sim check --format github scenarios/*.yaml
      reseller-sim check --junit check.xml scenarios/*.yaml
    """
    reports = Reports(**flags)
    is_json = output == "json" and reports.is_text
    suites = []
    for file in files:
        found = problems(file)
        suites.append(_suite(file, found))
        if reports.is_text and not is_json:
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


def _suite(file: Path, found: list[Problem]) -> Suite:
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
