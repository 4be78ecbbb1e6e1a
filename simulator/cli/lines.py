"""Events as lines for people: when, in which sandbox, what happened, and why."""

from collections.abc import Callable
from typing import Any, Final

import click

from reseller_sim.times import shown_time
from simulator.cli.output import one_line
from simulator.domain.model.transactions import Status
from simulator.shortened import shortened
from simulator.wire.payments import STATUS_NAMES

Event = dict[str, Any]

FIELD_CHARS_MAX: Final = 300
_KIND_CHARS: Final = 7
_GOOD: Final = frozenset({STATUS_NAMES[Status.SUCCESSFUL], "delivered", "success"})
_BAD: Final = frozenset({STATUS_NAMES[Status.FAILED], STATUS_NAMES[Status.REFUNDED], "failed"})


class Lines:
    """Makes one line of each event, with or without colours."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def line(self, event: Event) -> str:
        """The line of an event, without its end; also of one with a kind that nobody knows yet."""
        kind = event["kind"]
        if kind == "gap":
            return self._styled(one_line(_gap(event)), "yellow")
        when = self._styled(one_line(_time(event.get("at"))), "bright_black")
        try:
            parts = _TEXTS.get(kind, _other)(event)
        except (KeyError, TypeError, ValueError):  # of another version
            parts = _other(event)
        texts = [self._styled(one_line(text), colour) for text, colour in parts if text]
        return " ".join([when, self._styled(one_line(event.get("sandbox", "")), "cyan"), *texts])

    def _styled(self, text: str, colour: str) -> str:
        text = shortened(text, FIELD_CHARS_MAX, "…")
        return click.style(text, fg=colour) if self._coloured and colour else text


Texts = list[tuple[str, str]]
"""Parts of a line, and the colour of each; those that are empty are left out."""


def _time(at: object) -> str:
    """The time of day with its offset; empty for none."""
    return shown_time(str(at))[11:] if at else ""


def _request(event: Event) -> Texts:
    status = event["status"]
    colour = "green" if status < 400 else "red" if status >= 500 else "yellow"
    target = event["path"] + (f"?{event['query']}" if event["query"] else "")
    return [
        (event["method"], ""),
        (target, ""),
        (str(status) if status else "no answer", colour if status else "red"),
        (f"#{event['n']}", "bright_black"),
        (event["refid"], ""),
        (_named("rule", event["rule"]), "magenta"),
        (_named("fault", event["fault"]), "magenta"),
        (f"{event['duration_us'] / 1000:.1f} ms", "bright_black"),
        (event["diagnosis"], "yellow"),
    ]


def _status(event: Event) -> Texts:
    status = event["status"]
    return [
        (_kind("status"), ""),
        (event["refid"], ""),
        (status, _colour(status)),
        (_named("rule", event["rule"]), "magenta"),
    ]


def _callback(event: Event) -> Texts:
    return [
        (_kind("callback"), ""),
        (event["refid"], ""),
        (event["status"], _colour(event["status"])),
        *_attempt(event),
    ]


def _webhook(event: Event) -> Texts:
    return [(_kind("webhook"), ""), (event["type"], ""), *_attempt(event)]


def _attempt(event: Event) -> Texts:
    answered, state = event["answered"], event["state"]
    said = str(answered) if answered is not None else event["error"] or str(event["ending"])
    is_more = event["attempt"] > 1 or event["next_due"]
    tries = f"attempt {event['attempt']} of {event['attempts_max']}" if is_more else ""
    due = f"next at {_time(event['next_due'])[:8]}" if event["next_due"] else ""
    took = event.get("duration_us")
    return [
        (event["method"], ""),
        (event["url"], ""),
        (said, _colour(state)),
        (state, ""),
        (tries, ""),
        (due, ""),
        (f"{took / 1000:.1f} ms" if took is not None else "", "bright_black"),
    ]


def _entry(event: Event) -> Texts:
    entry = event["entry"]
    amount, balance = (f"{entry[name]:.2f}" for name in ("amount", "balance"))
    return [(_kind("wallet"), ""), (event["refid"], ""), (f"{entry['type']} {amount}, balance {balance}", "")]


def _notification(event: Event) -> Texts:
    mail = event["notification"]
    return [(_kind("e-mail"), ""), (event["refid"], ""), (f"to {', '.join(mail['to'])}: {mail['subject']}", "")]


def _action(event: Event) -> Texts:
    return [(_kind("sandbox"), ""), (event["action"].replace("_", " "), "blue"), (event["about"], "")]


def _other(event: Event) -> Texts:
    return [(_kind(str(event["kind"])), "")]


_TEXTS: Final[dict[str, Callable[[Event], Texts]]] = {
    "request": _request,
    "status": _status,
    "callback": _callback,
    "webhook": _webhook,
    "entry": _entry,
    "notification": _notification,
    "action": _action,
}


def _gap(event: Event) -> str:
    missing = event.get("missing")
    count = "events of which nobody knows the number" if missing is None else f"{missing} events"
    return f"... {count} are missing here, of any kind and refid: they came faster than they were read, or were deleted"


def _named(name: str, value: str) -> str:
    return f"{name}={value}" if value else ""


def _kind(kind: str) -> str:
    return kind.ljust(_KIND_CHARS)


def _colour(status: str) -> str:
    return "green" if status in _GOOD else "red" if status in _BAD else "yellow"
