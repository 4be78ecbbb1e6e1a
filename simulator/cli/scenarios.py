"""`reseller-sim scenarios` and `check`: the bundled scenarios, and what is wrong with scenario files."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import completion
from simulator.cli.flags import json_flag, output_flag
from simulator.cli.output import echo, echo_json, print_to_stderr
from simulator.cli.reports.cases import UNWRITABLE, ReportCase, Reports, Suite, all_ok, as_json, report_flags
from simulator.cli.usage import verb
from simulator.shortened import whole_line

if TYPE_CHECKING:
    from simulator.scenario.reading.nodes import Problem


@verb("scenarios")
@click.argument(
    "action", metavar="[show NAME|FILE | magic | schema]", nargs=-1, shell_complete=completion.scenario_actions
)
@json_flag(
    help="Print JSON: the list, the table, the schema, or with show the scenario merged with all that it extends, as "
    "`sandbox new` and POST /_sim/sandboxes accept it."
)
@click.pass_context
def scenarios_command(ctx: click.Context, /, action: tuple[str, ...], json: bool) -> int:
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
        return _show(action[1], json)
    elif action == ("magic",):
        _magic(json)
    elif action == ("schema",):
        from simulator.contract.files import data_dir

        echo((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"), nl=False)
    else:
        usage = (
            "write `scenarios` for the list, `scenarios show NAME` or `show FILE` for one, `scenarios magic` for the "
            "magic accounts, `scenarios schema` for the JSON Schema of scenario files"
        )
        raise click.UsageError(usage, ctx)
    return 0


def _list(json: bool) -> None:
    from simulator.scenario.library import descriptions

    found = descriptions()
    if json:
        listed = [{"name": name, "description": description} for name, description in found.items()]
        echo_json(json_module.dumps({"scenarios": listed}))
        return
    width = max(map(len, found), default=0)
    for name, description in found.items():
        echo(whole_line(f"{name:<{width}}  {description}"))


def _show(wanted: str, json: bool) -> int:
    from simulator.scenario.library import load_scenario, text
    from simulator.scenario.reading.nodes import ScenarioError

    try:
        if json:
            from simulator.wire.money import encode

            echo_json(encode(load_scenario(wanted).document).decode())
        else:
            echo(text(wanted), nl=False)
    except ScenarioError as error:
        for problem in error.problems:
            print_to_stderr(whole_line(problem if problem.line else f"reseller-sim scenarios: {problem.message}"))
        return 1
    return 0


def _magic(json: bool) -> None:
    from simulator.scenario.library import load_scenario

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
    for code, text in magic.outcomes.items():
        echo(f"{code}  {text}")


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
    from simulator.scenario.library import problems

    reports = Reports(title="reseller-sim check", **flags)
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
        echo_json(as_json(reports.title, suites).decode().rstrip())
    is_written = reports.write(suites)
    reports.show(suites)
    if not is_written:
        return UNWRITABLE
    return 0 if all_ok(suites) else 1


def _suite(file: Path, found: "list[Problem]") -> Suite:
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
