"""`reseller-sim clock` and `advance`: the time of a sandbox, and what happens when it moves."""

from typing import Any

import click

from simulator.cli import completion, values
from simulator.cli.control import Control
from simulator.cli.flags import asking_flags
from simulator.cli.output import clock_mode_of, clock_time, echo_value, print_line, print_table, show, times_of_day
from simulator.cli.usage import Refused, title, verb
from simulator.cli.values import seconds_of
from simulator.shortened import whole_line

STOP = "stop"
TIMEOUT_S = 3600.0
INTERRUPTED = 130
USAGE = "write a duration such as 90s, 1h30m or 1.5d, or `idle`, or `to` and a time such as 2027-01-10T23:59:00+08:00"
COLUMNS = ("what", "refid", "status", "to", "answered", "skipped")
FACTS = ("product", "category", "group", "api_key", "rule", "status", "state")  # of what a scenario scheduled


@verb("clock")
@click.argument("what", metavar="[real|manual|xN|stop]", required=False, shell_complete=completion.clock_actions)
@asking_flags
@click.pass_context
def clock_command(ctx: click.Context, /, control: Control, what: str | None, json: bool) -> None:
    """Print the clock, set its mode, or stop an advance.

    The clock follows the wall clock (`real`), moves only when it is advanced (`manual`), or runs N times as fast
    (`x60`). `stop` ends a running advance after its current item. Exit code 1 means that no advance is running.

    \b
    Examples:
      reseller-sim clock
      reseller-sim clock manual
      reseller-sim clock x60
      reseller-sim clock stop
    """
    if what is None:
        clock = control.get("/clock")
    elif what == STOP:
        clock = control.delete("/clock/advance")
    else:
        wanted = _mode(ctx, what)
        rate = {"rate": wanted.rate} if wanted.mode == "xN" else {}
        clock = control.put("/clock", {"mode": wanted.mode, **rate})
    show(clock, _line(clock), json=json)


def _mode(ctx: click.Context, text: str) -> values.ClockMode:
    try:
        wanted = values.clock_mode(ctx, ctx.command.params[0], text)
    except click.BadParameter as wrong:
        raise click.UsageError(f"{wrong.message}; `{STOP}` ends an advance", ctx) from None
    assert wanted is not None
    return wanted


def _line(clock: dict[str, Any]) -> str:
    due = f"the next of {clock['pending']} is due at {clock_time(clock['next_due'])}" if clock["next_due"] else ""
    moves = "it is being advanced" if clock["advancing"] else ""
    return ", ".join(filter(None, (f"{clock_mode_of(clock)}: it is {clock_time(clock['now'])}", due, moves)))


@verb("advance")
@click.argument("how", metavar="DURATION|idle|to ISO", nargs=-1, required=True)
@asking_flags
@click.pass_context
def advance_command(ctx: click.Context, /, control: Control, how: tuple[str, ...], json: bool) -> int:
    """Move the clock, and print what happened.

    Statuses, callbacks, webhooks and scheduled changes happen on the way, each at its time. `idle` advances until the
    schedule is empty; `to` takes an ISO time with its offset from UTC. You can also advance a running clock. Exit code
    1 means that the advance stopped before its target; the last line has the reason. Ctrl-C stops the advance after the
    current item, with exit code 130.

    \b
    Examples:
      reseller-sim advance 90s
      reseller-sim advance idle
      reseller-sim advance to 2027-01-10T23:59:00+08:00
      reseller-sim advance 5m --json | jq '.fired[] | select(.kind == "callback")'
    """
    try:
        done = control.post("/clock/advance", _asked(ctx, how), timeout_s=TIMEOUT_S)
    except KeyboardInterrupt:
        return _stop(control)
    except Refused as refused:  # it names the field of the request
        raise Refused(refused.message.replace(f"{title()}: to ", f"{title()}: {how[-1]} ", 1), refused.code) from None
    if json:
        echo_value(done)
    else:
        _print(done)
    return 1 if done.get("reason") else 0


def _stop(control: Control) -> int:
    """Stop the current advance and print the clock's time. The advance may have ended meanwhile."""
    try:
        clock = control.delete("/clock/advance")
    except Refused as refused:
        if refused.code != "not_advancing":
            raise
        clock = control.get("/clock")
    where = f"the clock of {control.sandbox} stands at {clock_time(clock['now'])}"
    if clock["advancing"]:
        where = f"{where} and will stop when the receiver that is being called has answered"
    click.echo(whole_line(f"{title()}: interrupted; {where}"), err=True)
    return INTERRUPTED


def _asked(ctx: click.Context, how: tuple[str, ...]) -> dict[str, Any]:
    """Return the body of the request."""
    if how == ("idle",):
        return {"until": "idle"}
    if len(how) == 2 and how[0] == "to":
        values.time(ctx, ctx.command.params[0], how[1])
        return {"to": how[1]}
    text = " ".join(how)
    try:
        seconds = seconds_of(text)
    except ValueError as wrong:
        why = wrong if str(wrong).startswith("is longer") else f"is not a duration to advance by: {USAGE}"
        raise click.UsageError(f"{text!r} {why}", ctx) from None
    if seconds < 0:
        raise click.UsageError(f"{text!r} is before the present: time never goes back", ctx)
    return {"seconds": seconds}


def _print(done: dict[str, Any]) -> None:
    heading, times = times_of_day([one["at"] for one in done["fired"]])
    rows = [(at, *_row(one)) for one, at in zip(done["fired"], times, strict=True)]
    if rows:
        print_table((heading, *COLUMNS), rows)
        print_line("")
    if done["left_out"]:
        print_line(f"and {done['left_out']} more before these")
    what = "nothing more is due" if done["idle"] else "more is due later"
    print_line(f"It is {clock_time(done['now'])}; {what}." if rows else f"It is {clock_time(done['now'])}.")
    if held := done.get("held"):
        print_line(f"Held until a release: {', '.join(f'{count} in {name}' for name, count in held.items())}.")
    if done.get("reason"):
        print_line(f"It stopped here: {done['reason']}", red=True)


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    """Return a row about an action. A callback shows the status that it carries, a webhook the type of its event."""
    answered = one.get("answered") or one.get("ending") or ""
    return one["kind"], one.get("refid", ""), _status(one), one.get("url", ""), answered, one.get("skipped", "")


def _status(one: dict[str, Any]) -> str:
    """Return the result of an action: the status of a payment, or the changes of anything else."""
    if "status_code" in one:
        return f"{one['status']} {one['status_code']}"
    if one["kind"] in ("callback", "webhook"):
        return one.get("status") or one.get("type") or ""
    facts = [str(one[name]) for name in FACTS if one.get(name)]
    amount = [f"{one['amount']:.2f} MYR"] if "amount" in one else []
    return " ".join([*facts, *amount]) or ", ".join(one.get("changed", ()))
