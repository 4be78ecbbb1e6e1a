"""The tools that change something: sandboxes, their clock and rules, signed requests, and commands to explore."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from contextlib import suppress
from threading import Thread
from typing import Any, Final

import anyio

from reseller_sim import NotRunning, Sandbox, Simulator, SimulatorError, launcher
from reseller_sim.asynchronous import in_thread
from reseller_sim.formats import shown_time
from simulator.mcp.report_tools import exchange
from simulator.mcp.tools import ToolAnswer, members, text_schema, tool

ADVANCE: Final = "/clock/advance"
ADVANCE_TIMEOUT_S: Final = 3600.0
CREDENTIALS: Final = ("code", "api_key", "api_secret", "username", "password")
VARIABLES: Final = tuple(f"RESELLER_{name}" for name in ("BASE_URL", "API_KEY", "API_SECRET", "USERNAME", "PASSWORD"))
SCENARIO: Final = text_schema(
    "The name of a bundled scenario, a scenario as YAML or as an object, or the path of a file below the server's "
    "folder of scenarios. By default the server's own scenario."
) | {"type": ["string", "object"]}
MINUTES_MAX: Final = 30
VERDICTS: Final = {
    0: "The command survived every fault that was tried.",
    1: "Faults were found under which the command fails.",
    3: "It could not be explored; the last lines say why.",
}
COMMAND: Final = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SCENARIO_NAME: Final = text_schema("The name of a bundled scenario or the path of a file; default.") | {
    "pattern": "^[^-]",
    "x-must-be": "a name or a path, and not begin with '-'",
}


@tool({"scenario": SCENARIO} | members("sandbox-query", "id", "clock", "start", "seed", "credentials"), changes=True)
def create_sandbox(simulator: Simulator, scenario: Any = None, **wanted: Any) -> ToolAnswer:
    """Create a sandbox from a scenario: a copy of the service with its own clock, credentials and payments. The clock
    is manual unless `clock` says otherwise, so callbacks are sent when advance_clock is called."""
    is_file = isinstance(scenario, str) and scenario.endswith((".yaml", ".yml")) and not re.search(": |\n", scenario)
    made = simulator.sandbox({"file": scenario} if is_file else scenario, **wanted)
    clock = made.clock()["mode"]
    lines = [f"{name}={value}" for name, value in made.environment.items() if name in VARIABLES]
    heading = f"The sandbox {made.id} is ready, with a {clock} clock. Pass sandbox={made.id} to the other tools."
    credentials = [{name: reseller.get(name) for name in CREDENTIALS} for reseller in made.resellers]
    facts = {"sandbox": made.id, "scenario": made.scenario, "url": made.url, "clock": clock, "resellers": credentials}
    return ToolAnswer("\n".join([heading, "Variables for the client. No other tool shows the secrets.", *lines]), facts)


@tool(changes=True)
def reset_sandbox(simulator: Simulator, sandbox: str) -> ToolAnswer:
    """Return a sandbox to the start of its scenario. Requests, payments and added rules are deleted."""
    simulator.open(sandbox).reset()
    return ToolAnswer(f"The sandbox {sandbox} is at the start of its scenario.", {"sandbox": sandbox})


@tool(
    {
        "method": text_schema("GET, POST, PUT, PATCH or DELETE."),
        "path": text_schema("The path with its query, such as /v2/balance; the page `service` has them all."),
        "body": {"type": "object", "description": "The body, which is sent as JSON."},
    },
    changes=True,
)
def send_request(simulator: Simulator, sandbox: str, method: str, path: str, body: Any = None) -> ToolAnswer:
    """Send a request that is signed as the sandbox's first reseller, and show it as the journal has it: the response,
    the rule that decided, and why it was refused."""
    opened = simulator.open(sandbox)
    answer = opened.call(method, path, body)
    number = answer.headers.get("x-sim-request-id", "")
    if not number.isdecimal():  # refused by the server itself
        text = f"The response has the status {answer.status}, and is not in the journal."
        return ToolAnswer(text, {"status": answer.status}, [answer.text])
    return exchange(opened, int(number))


@tool(members("advance-request", "seconds", "to", "until"), changes=True)
async def advance_clock(simulator: Simulator, sandbox: str, **wanted: Any) -> ToolAnswer:
    """Move the clock of a sandbox, and run all that is due until then, callbacks included. Pass one of seconds, to and
    until."""
    opened = await in_thread(simulator.open, sandbox)
    try:
        done = await in_thread(opened.ask, "POST", ADVANCE, wanted, timeout_s=ADVANCE_TIMEOUT_S)
    except asyncio.CancelledError:
        Thread(target=_stop_advance, args=(opened,)).start()  # also when this process ends
        raise
    ending = done.get("reason") or ("Nothing more is due." if done["idle"] else "More is due later.")
    if held := done.get("held"):
        ending += f" Held until a release: {', '.join(f'{count} in {name}' for name, count in held.items())}."
    heading = f"The time is {shown_time(done['now'])}. Events: {len(done['fired']) + done['left_out']}. {ending}"
    facts = {name: done[name] for name in ("now", "idle", "left_out")}
    return ToolAnswer(heading, facts, [_event(item) for item in done["fired"]], done["fired"])


def _stop_advance(sandbox: Sandbox) -> None:
    with suppress(SimulatorError, NotRunning):
        sandbox.ask("DELETE", ADVANCE)


def _event(event: dict[str, Any]) -> str:
    shown = [event.get(name) for name in ("refid", "type", "status", "state", "url")]
    shown.append(event.get("answered") or event.get("ending"))
    return " ".join([shown_time(event["at"]), event["kind"], *(str(value) for value in shown if value)])


@tool(members("rule-request", "section", "rule"), changes=True)
def add_rule(simulator: Simulator, sandbox: str, section: str, rule: dict[str, Any]) -> ToolAnswer:
    """Add a rule to a sandbox, before all others of its section: an outcome of payments, or a fault. The page
    `recipes` has examples, `scenario-reference` every key. reset_sandbox removes added rules."""
    made = simulator.open(sandbox).ask("POST", "/rules", {"section": section, "rule": rule})
    text = f"The rule {made['id']} is now the first one of {section}."
    return ToolAnswer(text, {"rule": made["id"]}, made.get("warnings", []))


@tool(members("scenario-check-request", "text"), changes=True)
def check_scenario(simulator: Simulator, text: str) -> ToolAnswer:
    """Find the problems of a scenario in YAML, each with its line and column, without creating a sandbox."""
    found = simulator.control.ask("POST", "/scenarios/check", {"text": text})
    rows = found["problems"]
    lines = [f"{row['line']}:{row['column']}: {row['severity']} {row['code']}: {row['message']}" for row in rows]
    loads = "A sandbox can be created from it." if found["loads"] else "No sandbox can be created from it."
    facts = {"ok": found["ok"], "loads": found["loads"], "count": len(rows)}
    return ToolAnswer(f"Problems: {len(rows)}. {loads}", facts, lines, rows or None)


@tool(
    {
        "command": COMMAND | {"description": "The program and its arguments."},
        "minutes": {"type": "number", "minimum": 0.01, "maximum": MINUTES_MAX, "description": "When to end; 1."},
        "scenario": SCENARIO_NAME,
    },
    changes=True,
)
async def explore_command(command: list[str], minutes: float = 1.0, scenario: str = "default") -> ToolAnswer:
    """Run a command again and again, each time against a simulator of its own with other faults, and find those under
    which it fails. The command finds its simulator by RESELLER_BASE_URL, RESELLER_API_KEY and RESELLER_API_SECRET.
    Findings are written to the folder `explored`, as scenario files; findings of an earlier exploration are deleted."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, launcher.__file__, "explore", scenario, "--minutes", f"{minutes:g}", "--", *command),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        env={name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        printed = await process.stdout.read()
        status = await process.wait()
    finally:
        process.stdin.close()  # a call that is cancelled ends it so, and so does the end of this process
        with anyio.CancelScope(shield=True):
            await process.communicate()
    verdict = VERDICTS.get(status, f"The exploration ended with exit code {status}.")
    if is_empty := status == 0 and b"single faults: 0 of " in printed:
        verdict = "No fault was tried: pass more minutes."
    lines = printed.decode("utf-8", "replace").splitlines()
    return ToolAnswer(verdict, {"exit_code": status}, lines, is_error=is_empty or status not in (0, 1))
