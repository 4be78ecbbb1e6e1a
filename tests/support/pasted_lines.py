"""The lines that the console shows after an action, run in a shell, and the state of the sandbox afterwards."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.console import Console
from tests.support.processes import DEADLINE_S, ask

PARTS = (
    "",
    "resellers?limit=50",
    "rules?limit=200",
    "catalog?limit=200",
    "inbox?limit=50",
    "transactions",
    "deliveries",
    "clock",
    "magic",
)
PRESENT = re.compile(r"\b20[0-3]\d-\d\d-\d\dT[\d:.]+Z")  # real times; the tests' scenario is later
# The differences between two sandboxes with the same history: random ids and secrets, the note of a trigger, and the
# place of a scenario, which a verb reads from a file.
_BY_CHANCE = re.compile(
    r'"(?:secret_last_four|api_secret|id|event_id|original|first_n|timestamp|nonce|signature|request_id)": "[^"]*"'
    r'|"(?:n|request|last_n|requests)": \d+'
    r'|changed by [^"]*'
    r'|"(?:origin|place)": (?:null|\{(?:[^{}]|\{[^{}]*\})*\})'
    r"|\b[0-9a-f]{16,}\b"
    r"|(?<=:\d\d)\.\d{6}(?=Z)"
)
SAID = "import(new URL('/_sim/console/app/action-log.js', location.href).href).then(module => module.said)"


def said(page: Console) -> list[dict[str, str]]:
    """All that the page said it did since it was loaded, each with `text`, `cli` and `curl`."""
    found: list[dict[str, str]] = page.page.evaluate(SAID)
    return found


def run_pasted(line: str, folder: Path, token: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a line in a shell, with the command line's token in its variable."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")}
    variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
    if token:
        variables["RESELLER_SIM_CONTROL_TOKEN"] = token
    words = [
        "/bin/sh",
        "-c",
        line.replace("curl ", "curl -sS --fail-with-body ", 1) if line.startswith("curl ") else line,
    ]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=DEADLINE_S, env=variables, cwd=folder, check=False
    )


def state(page: Console, sandbox: str) -> dict[str, Any]:
    """Return the visible state of a sandbox without random values. Its parts are None if the sandbox does not exist."""
    token = page.server.ready["control_token"]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    found: dict[str, Any] = {}
    for part in PARTS:
        answer = ask(f"{page.url}/_sim/sandboxes/{sandbox}/{part}".rstrip("/"), "GET", None, headers)
        value = answer.json if answer.status == 200 else None
        if value and "inboxes" in value:  # reading an inbox creates it
            value["inboxes"] = [one for one in value["inboxes"] if one["count"] or one["replies"]["count"]]
        text = json.dumps(value, sort_keys=True)
        found[part] = json.loads(_BY_CHANCE.sub(_blank, PRESENT.sub("…", text.replace(sandbox, "SANDBOX"))))
    return found


def states(page: Console, *sandboxes: str) -> list[dict[str, Any]]:
    """Return the states of several sandboxes with the same history, after waiting for pending work."""
    for _ in range(50):
        found = [state(page, sandbox) for sandbox in sandboxes]
        if all(one == found[0] for one in found):
            break
        page.page.wait_for_timeout(100)
    return found


def _blank(match: "re.Match[str]") -> str:
    name, colon, _ = match[0].partition(": ")
    return f'{name}: "…"' if colon else "…"
