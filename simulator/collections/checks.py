"""The JavaScript that judges an answer. It is the same in every tool, below a few lines that name what the tool has."""

import json
from collections.abc import Sequence
from importlib.resources import files

from simulator.collections.plan import Request

# Of an answer without a body, and of a variable that nothing has set, the tools have different nothings.
_POSTMAN = (
    "const status = pm.response.code;",
    "const answer = pm.response.text() ? pm.response.json() : null;",
    "const recall = (name) => pm.variables.get(name);",
    "const remember = (name, value) => pm.collectionVariables.set(name, value);",
    "const check = (name, holds) => pm.test(name, () => pm.expect(holds(), pm.response.text()).to.equal(true));",
)
_BRUNO = (
    "const status = res.getStatus();",
    "const answer = res.getBody();",
    "const recall = (name) => bru.getVar(name);",
    "const remember = (name, value) => bru.setVar(name, value);",
    "const check = (name, holds) => test(name, () => expect(holds(), JSON.stringify(answer)).to.equal(true));",
)
_HTTP = (
    "const status = response.status;",
    "const answer = response.body;",
    "const recall = (name) => client.global.get(name) || request.variables.get(name);",
    "const remember = (name, value) => client.global.set(name, value);",
    "const check = (name, holds) => client.test(name, () => client.assert(holds(), JSON.stringify(answer)));",
)
_NAMES = {"postman": _POSTMAN, "bruno": _BRUNO, "http": _HTTP}
_NEEDED_BY = {"recall": "recall(", "remember": "remember(", "answer": "answer"}


def checks(tool: str, request: Request) -> list[str]:
    """The lines that check an answer and keep what later requests need; `tool` is `postman`, `bruno` or `http`."""
    body = [*_judged(request), *_remembered(request)]
    said = "\n".join((*body, _NAMES[tool][-1]))
    needed = [line for line in _NAMES[tool] if _is_needed(line, said)]
    return [*needed, *body]


def before_each(tool: str) -> str:
    """The script that runs before each request: it signs."""
    return (files("simulator.collections") / "scripts" / f"{tool}.js").read_text("utf-8")


def _judged(request: Request) -> list[str]:
    expected = " or ".join(str(one) for one in request.statuses)
    lines = [f'check("the status is {expected}", () => {json.dumps(request.statuses)}.includes(status));']
    return lines + [f"check({json.dumps(name)}, () => {condition});" for name, condition in request.checks.items()]


def _remembered(request: Request) -> Sequence[str]:
    """Only an answer that is right has them, and only some such answers."""
    if not request.remembers:
        return ()
    kept = ", ".join(f"{name}: {value}" for name, value in request.remembers.items())
    return (
        "if (status < 300) {",
        f"  const seen = {{ {kept} }};",
        "  for (const name of Object.keys(seen)) {",
        "    if (seen[name] !== undefined && seen[name] !== null) remember(name, seen[name]);",
        "  }",
        "}",
    )


def _is_needed(line: str, said: str) -> bool:
    name = line.split()[1]
    return _NEEDED_BY.get(name, "") in said
