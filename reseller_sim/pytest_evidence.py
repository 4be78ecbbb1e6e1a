"""What stands under a test that failed: the stories of its payments, the refused requests, the callbacks."""

import os
import re
from collections.abc import Container, Iterable, Iterator
from typing import Any

from reseller_sim.control import below
from reseller_sim.printable import printable_line
from reseller_sim.proxies import proxy_hint
from reseller_sim.refusals import explained
from reseller_sim.sandbox import Sandbox
from reseller_sim.story import Story, attempt_line, request_line

Section = tuple[str, str]  # title and text, as pytest's reports have them

STORIES_MAX = 3
STORY_LINES_MAX = (8, 22)  # from its beginning, and up to its end
REFUSED_MAX = 10
CALLBACKS_MAX = 12
OTHERS_MAX = 20
RECENT = 1000  # requests, and payments, that are looked at
REFUSED = 400
TIMEOUT_S = 10.0  # a simulator that hangs holds up no run
TITLE = "reseller-sim: "
SETTLED_WELL = "Succesful"
LEFT_OUT = "... "
_PREFIX = re.compile(r"^(E  +)? *")  # of each line of an error's text, in most of pytest's styles


def evidence(sandbox: Sandbox) -> list[Section]:
    """The sections, as far as the simulator still answers; one of one line says why there are no more."""
    found: list[Section] = []
    try:
        found.extend((TITLE + printable_line(title), _text(lines)) for title, lines in _sections(sandbox))
    except Exception as error:  # whatever is wrong with the evidence, pytest has to report the test
        found.append((TITLE + "no more to show", printable_line(f"sandbox {sandbox.id} at {sandbox.url}: {error}")))
    return found


def _sections(sandbox: Sandbox) -> Iterator[tuple[str, list[str]]]:
    payments = transactions(sandbox)
    requests = sandbox.ask("GET", "/requests", query={"limit": RECENT}, timeout_s=TIMEOUT_S)["requests"]
    for payment in payments[:STORIES_MAX]:
        story = Story(sandbox.ask("GET", below("/transactions", payment["trxid"])))
        yield f"story of {payment['refid']}", _ends(story.lines)
    if others := payments[STORIES_MAX:]:
        yield f"{len(others)} more payments", _first([f"{one['refid']} {one['status']}" for one in others], OTHERS_MAX)
    if refused := [one for one in requests if one["status"] >= REFUSED]:
        yield "refused requests", _last([request_line(one) for one in explained(sandbox, refused)][::-1], REFUSED_MAX)
    if callbacks := sandbox.callbacks():
        yield "callbacks", _last([_callback(one) for one in callbacks], CALLBACKS_MAX)
    if not requests:
        text = f"none has reached the sandbox: does the code under test use {sandbox.url}?"
        yield "requests", [text + proxy_hint(os.environ)]
    elif not payments and not refused:
        yield "requests", _last([request_line(one) for one in reversed(requests)], REFUSED_MAX)


def untold(sections: list[Section], shown: str) -> list[Section]:
    """The sections without those that the text of a failure has already, as an expectation's text has a story."""
    told = {printable_line(_PREFIX.sub("", line)) for line in shown.splitlines()}
    return [(title, text) for title, text in sections if not all(_is_told(line, told) for line in text.splitlines())]


def _is_told(line: str, told: Container[str]) -> bool:
    return line.strip().startswith(LEFT_OUT) or line.strip() in told


def transactions(sandbox: Sandbox) -> list[dict[str, Any]]:
    """The latest payments of a sandbox, those that have not succeeded first, and of each the newest first."""
    found = _latest(sandbox, "transactions")
    return sorted(found, key=lambda one: bool(one["status"] == SETTLED_WELL))


def _latest(sandbox: Sandbox, name: str) -> list[dict[str, Any]]:
    asked = sandbox.ask("GET", f"/{name}", query={"limit": RECENT}, timeout_s=TIMEOUT_S)
    found: list[dict[str, Any]] = asked[name]
    return found


def _callback(row: dict[str, Any]) -> str:
    return f"{row['refid']}: {attempt_line(row, row['payment_status'], row['url'])}"


def _ends(lines: list[str]) -> list[str]:
    first, last = STORY_LINES_MAX
    left_out = len(lines) - first - last
    return [*lines[:first], f"  {LEFT_OUT}{left_out} more", *lines[-last:]] if left_out > 0 else lines


def _first(lines: list[str], most: int) -> list[str]:
    return [*lines[:most], f"{LEFT_OUT}{len(lines) - most} more"] if len(lines) > most else lines


def _last(lines: list[str], most: int) -> list[str]:
    return [f"{LEFT_OUT}{len(lines) - most} earlier", *lines[-most:]] if len(lines) > most else lines


def _text(lines: Iterable[str]) -> str:
    return "\n".join(map(printable_line, lines))
