"""Render docs/errors.md: the codes of the reseller API, of the HTTP server and of the control API, as the source has
them."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import simulator
from simulator.api import authentication
from simulator.auth.signature import MESSAGES
from simulator.domain.model.webhooks import ReplayRefused
from simulator.server.message import REFUSALS
from simulator.wire.webhook_bodies import REPLAY_REFUSALS
from tools.tables import cell, markdown

ABOUT = """<!-- Generated from simulator/ by `make docs`; change it there. -->

# Errors

Look up the code of an error, its status and its message. `…` stands for a value. [The service](service.md#7-errors) has
the errors of payments, bills and voids, and the shape of each body.

## Authentication

The reseller API answers requests without a valid signature or token with `{"error": code, "message": text}`.
[Debug a signature](debug-a-signature.md) finds the mistake of an `invalid_signature`.
"""
SERVICE = """
## Other refusals of the reseller API

The body is `{"error": code, "message": text}`, too. A fault of the scenario chooses the status of `integration_timeout`
(504) and `scripted_fault`.
"""
SERVER = """
## Requests that the HTTP server refuses

The body is `{"error": code, "message": text}`, and the connection is closed. These requests reach no sandbox and no
journal.
"""
CONTROL = """
## The control API

The body is `{"error": code, "message": text, "path": where}`.
"""
STATUS_OF = {"Unknown": 404, "Conflict": 409, "Unacceptable": 400, "Busy": 429, "Forbidden": 403, "Unauthorized": 401}
"""The status of the exceptions that end a request to the control API."""
HOLE = "…"
SOURCE = Path(simulator.__file__).parent


class Error(NamedTuple):
    """An error: its code, its status (`…` when it varies), and its message."""

    code: str
    status: int | str
    message: str


def as_markdown() -> str:
    """Return the content of the page."""
    tables = {
        ABOUT: [Error(code, 401, text) for code, text in MESSAGES.items()],
        SERVICE: _merged([*_limits(), *_service_errors_of("api"), *_service_errors_of("wire")]),
        SERVER: [Error(code, status, text) for code, (status, text) in REFUSALS.items()],
        CONTROL: _merged(one for part in _functions(SOURCE) for one in _control_errors(part)),
    }
    return "".join(f"{about}\n{_table(errors)}" for about, errors in tables.items())


def _functions(folder: Path) -> Iterator[ast.AST]:
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _limits() -> Iterator[Error]:
    """Yield the errors of limits, whose codes are constants."""
    yield Error(ReplayRefused.LIMIT.value, 429, REPLAY_REFUSALS[ReplayRefused.LIMIT])
    for code in (authentication.RATE, authentication.BYTES, authentication.TRANSACTIONS):
        yield Error(code, 403, f"This sandbox has a quota of {HOLE}.")


def _service_errors_of(room: str) -> Iterator[Error]:
    return (error for function in _functions(SOURCE / room) for error in _service_errors(function))


def _service_errors(function: ast.AST) -> Iterator[Error]:
    """Yield the errors of a function that calls `refuse(call, status, code, message)`, or `coded(code, message)`, with
    the status of the reply around it or of the only reply."""
    calls = list(_calls(function))
    replies = [call for call, _ in calls if _name(call) == "Reply"]
    for call, texts in calls:
        if _name(call) == "coded" and (code := _text(call.args[0])):
            around = [reply for reply in replies if call in ast.walk(reply)] or replies
            status = getattr(around[0].args[0], "value", HOLE) if around else HOLE
            yield Error(code, status, _message(call.args[1], texts))
        elif _name(call) == "refuse" and (code := _text(call.args[2])):
            yield Error(code, getattr(call.args[1], "value", HOLE), _message(call.args[3], texts))


def _control_errors(function: ast.AST) -> Iterator[Error]:
    """Yield the errors of a function that raises an exception of `STATUS_OF` or returns an error."""
    for call, texts in _calls(function):
        status, arguments = STATUS_OF.get(_name(call)), call.args
        if _name(call) == "error" and arguments and isinstance(given := getattr(arguments[0], "value", None), int):
            status, arguments = given, arguments[1:]
        if status and len(arguments) > 1 and (code := _text(arguments[0])):
            yield Error(code, status, _message(arguments[1], texts))
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, int) and isinstance(value, ast.Tuple):
                    yield Error(_text(value.elts[0]), key.value, _text(value.elts[1]))


def _calls(function: ast.AST) -> Iterator[tuple[ast.Call, dict[str, str]]]:
    """Yield each call, with the texts that its function has assigned to variables before."""
    texts: dict[str, str] = {}
    for node in sorted(ast.walk(function), key=lambda one: getattr(one, "end_lineno", 0)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts[node.targets[0].id] = _text(node.value)
        elif isinstance(node, ast.Call):
            yield node, texts


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _message(node: ast.AST, texts: dict[str, str]) -> str:
    return texts.get(node.id, "") if isinstance(node, ast.Name) else _text(node)


def _text(node: ast.AST) -> str:
    """Return a text of the source with `…` for its values; empty for other expressions."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or HOLE for part in node.values)
    return ""


def _merged(errors: Iterable[Error]) -> list[Error]:
    """Return the errors by code and status, each with all of its messages."""
    found: dict[tuple[str, int | str], set[str]] = defaultdict(set)
    for error in errors:
        found[error.code, error.status].add(error.message)
    rows = sorted(found.items(), key=lambda row: (row[0][0], str(row[0][1])))
    return [Error(*key, "; or: ".join(sorted(texts - {""})) or HOLE) for key, texts in rows]


def _table(errors: Iterable[Error]) -> str:
    rows = ((f"`{one.code}`", str(one.status), _cell(one.message)) for one in errors)
    return markdown([("code", "status", "message"), *rows]) + "\n"


def _cell(text: str) -> str:
    return cell(text.replace("{}", HOLE).replace("{:g}", HOLE))
