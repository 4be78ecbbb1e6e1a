"""`reseller-sim clock`, `advance`, `mark`, `rewind` and `fork`: the time of a sandbox, and moments to return to."""

from collections.abc import Callable
from typing import Any

import click

from simulator.cli import completion, values
from simulator.cli.control import Control, path_part
from simulator.cli.flags import asking_flags, control_flags, own_option
from simulator.cli.output import (
    Columns,
    clock_mode_of,
    clock_time,
    echo_value,
    print_line,
    print_rows,
    print_table,
    show,
    times_of_day,
)
from simulator.cli.sandbox import export_flag, show_sandbox
from simulator.cli.usage import BadResult, notify, verb, verb_group, wrong_usage
from simulator.cli.values import seconds_of

STOP = "stop"
TIMEOUT_S = 3600.0
INTERRUPTED = 130
USAGE = "write a duration such as 90s, 1h30m or 1.5d, or `idle`, or `to` and a time such as 2027-01-10T23:59:00+08:00"
COLUMNS = ("what", "refid", "status", "to", "answered", "skipped")
FACTS = ("product", "category", "group", "api_key", "rule", "status", "state")  # of what a scenario scheduled


@verb("clock", "", "x60")
@click.argument("what", metavar="[real|manual|xN|stop]", required=False, shell_complete=completion.clock_actions)
@asking_flags
def clock_command(control: Control, what: str | None, json: bool) -> None:
    """The clock follows the wall clock (`real`), moves only when it is advanced (`manual`), or runs N times as fast
    (`x60`). `stop` ends a running advance after its current item.
    """
    if what is None:
        clock = control.ask("GET", "/clock")
    elif what == STOP:
        clock = control.ask("DELETE", "/clock/advance")
    else:
        clock = control.ask("PUT", "/clock", values.clock_members(_checked(values.clock_mode, what)))
    due = f"the next of {clock['pending']} is due at {clock_time(clock['next_due'])}" if clock["next_due"] else ""
    moves = "the clock is being advanced" if clock["advancing"] else ""
    parts = (f"{clock_mode_of(clock)}: it is {clock_time(clock['now'])}", due, moves)
    show(clock, ", ".join(filter(None, parts)), json=json)


@verb("advance", "90s", "to 2027-01-10T23:59:00+08:00")
@click.argument("how", metavar="DURATION|idle|to ISO", nargs=-1, required=True)
@asking_flags
def advance_command(control: Control, how: tuple[str, ...], json: bool) -> int:
    """Statuses, callbacks, webhooks and scheduled changes happen on the way, each at its time. `idle` advances until
    the schedule is empty. Exit code 1 means that the advance stopped before its target; the last line has the reason.
    """
    try:
        done = control.ask("POST", "/clock/advance", _asked(how), timeout_s=TIMEOUT_S)
    except KeyboardInterrupt:
        return _stop(control)
    except BadResult as refused:
        is_of_field = refused.text.startswith("to ")  # of the request
        raise BadResult(refused.text.replace("to", how[-1], is_of_field), refused.code) from None
    if json:
        echo_value(done)
    else:
        _print(done)
    return 1 if done.get("reason") else 0


def _checked(parse: Callable[[str], Any], text: str) -> Any:
    """Return the value of a text. A text that has none is a usage error."""
    try:
        return parse(text)
    except ValueError as wrong:
        raise wrong_usage(wrong) from None


def _stop(control: Control) -> int:
    """Stop the current advance and print the clock's time. The advance may have ended meanwhile."""
    try:
        clock = control.ask("DELETE", "/clock/advance")
    except BadResult as refused:
        if refused.code != "not_advancing":
            raise
        clock = control.ask("GET", "/clock")
    where = f"the clock of {control.sandbox} is at {clock_time(clock['now'])}"
    if clock["advancing"]:
        where = f"{where} and stops after the answer of the receiver that is being called"
    notify(f"interrupted; {where}")
    return INTERRUPTED


def _asked(how: tuple[str, ...]) -> dict[str, Any]:
    """Return the body of the request."""
    if how == ("idle",):
        return {"until": "idle"}
    if len(how) == 2 and how[0] == "to":
        _checked(values.time, how[1])
        return {"to": how[1]}
    text = " ".join(how)
    try:
        seconds = seconds_of(text)
    except ValueError as wrong:
        why = wrong if str(wrong).startswith("is longer") else f"is not a duration to advance by: {USAGE}"
        raise wrong_usage(f"{text!r} {why}") from None
    if seconds < 0:
        raise wrong_usage(f"{text!r} is before the present: time never goes back")
    return {"seconds": seconds}


def _print(done: dict[str, Any]) -> None:
    heading, times = times_of_day([item["at"] for item in done["fired"]])
    rows = [(at, *_row(item)) for item, at in zip(done["fired"], times, strict=True)]
    if rows:
        print_table((heading, *COLUMNS), rows)
        print_line("")
    if done["left_out"]:
        print_line(f"and {done['left_out']} more before these")
    what = "nothing more is due" if done["idle"] else "more is due later"
    print_line(f"It is {clock_time(done['now'])}; {what}.")
    if held := done.get("held"):
        print_line(f"Held until a release: {', '.join(f'{count} in {name}' for name, count in held.items())}.")
    if done.get("reason"):
        print_line(f"The advance stopped here: {done['reason']}", red=True)


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    """Return a row about an action. A callback shows the status that it carries, a webhook the type of its event."""
    ending = row.get("ending") or ""
    answered = row.get("answered") or {"connection": "no answer"}.get(ending, ending)
    return row["kind"], row.get("refid", ""), _status(row), row.get("url", ""), answered, row.get("skipped", "")


def _status(row: dict[str, Any]) -> str:
    """Return the result of an action: the status of a payment, or the changes of anything else."""
    if "status_code" in row:
        return f"{row['status']} {row['status_code']}"
    if row["kind"] in ("callback", "webhook"):
        return row.get("status") or row.get("type") or ""
    facts = [str(row[name]) for name in FACTS if row.get(name)]
    amount = [f"{row['amount']:.2f} MYR"] if "amount" in row else []
    return " ".join([*facts, *amount]) or ", ".join(row.get("changed", ()))


MARK_COLUMNS: Columns = {"mark": "name", "entries": "n", "time": lambda mark: clock_time(mark["at"])}
METAVAR = "MARK|ISO|N"
mark_flag = own_option("--mark", "is_mark", is_flag=True, help="Read the moment as the name of a mark in any case.")


def moment_of(text: str, *, is_mark: bool) -> dict[str, Any]:
    """Return the moment as the control API expects it. By its form the text is a number, a time with its offset, or the
    name of a mark."""
    if not is_mark and (number := values.number_of(text)) is not None:
        return {"n": number}
    if not is_mark and ":" in text:  # which no name of a mark has
        _checked(values.time, text)
        return {"to": text}
    return {"mark": text}


@verb_group("mark", "add ordered", "list")
def mark_command() -> None:
    """A mark is a place on the tape of a sandbox. `rewind` returns to it, and `fork` copies the sandbox as it was
    there.
    """


@mark_command.word("add", "ordered", "'before the order' --sandbox mine")
@click.argument("name")
@asking_flags
def add(control: Control, name: str, json: bool) -> None:
    """Create a mark of the present. NAME has 1 to 64 letters, digits, blanks, '.', '_' and '-'."""
    mark = control.ask("POST", "/marks", {"name": name})
    show(mark, f"{mark['name']}: after entry {mark['n']}, at {clock_time(mark['at'])}", json=json)


@mark_command.word("list", "", "--json | jq -r '.marks[].name'")
@asking_flags
def list_all(control: Control, json: bool) -> None:
    """List the marks in the order of creation."""
    print_rows(control.ask("GET", "/marks"), "marks", MARK_COLUMNS, json=json)


@mark_command.word("rm", "ordered", "ordered 'before the order' --sandbox mine")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=completion.marks)
@control_flags
def remove(control: Control, names: tuple[str, ...]) -> None:
    """Delete marks; the tape stays."""
    for name in names:
        control.ask("DELETE", f"/marks/{path_part(name)}")


@verb("rewind", "ordered", "2026-11-21T12:00:05+08:00")
@click.argument("moment", metavar=METAVAR, shell_complete=completion.marks)
@mark_flag
@asking_flags
def rewind_command(control: Control, moment: str, is_mark: bool, json: bool) -> None:
    """The moment is a mark, a time, or the Nth entry of the tape. Everything later is discarded."""
    answer = control.ask("POST", "/rewind", moment_of(moment, is_mark=is_mark))
    show(answer, f"{answer['id']}: rewound, it is {clock_time(answer['clock']['now'])}", json=json)


@verb("fork", "ordered --id what-if", 'eval "$(reseller-sim fork ordered --export)"')
@click.argument("moment", metavar=f"[{METAVAR}]", required=False, shell_complete=completion.marks)
@mark_flag
@own_option("--id", "fork_id", metavar="ID", help="The id of the fork; by default a new id.")
@export_flag
@asking_flags
def fork_command(
    control: Control, moment: str | None, is_mark: bool, fork_id: str | None, export: bool, json: bool
) -> None:
    """The moment is a mark, a time, or the Nth entry of the tape of --sandbox. The two sandboxes run independently."""
    if is_mark and moment is None:
        raise wrong_usage("--mark belongs to the name of a mark")
    at = moment_of(moment, is_mark=is_mark) if moment is not None else {}
    wanted = {"fork": {"of": control.sandbox, **at}} | ({"id": fork_id} if fork_id is not None else {})
    made = control.ask("POST", "/sandboxes", wanted, is_root=True)
    show_sandbox(control, made, export=export, json=json)
