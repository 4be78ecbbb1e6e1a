"""`advance` that is interrupted, by Ctrl-C or from elsewhere."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from simulator.cli.control import Control
from simulator.cli.output import clock_time
from simulator.cli.usage import BadResult
from tests.support.asking import Asking
from tests.support.runner import invoke, refusal


def clock(asking: Asking) -> dict[str, object]:
    shown: dict[str, object] = Control(asking.url, asking.sandbox, None).ask("GET", "/clock")
    return shown


@contextmanager
def advancing(asking: Asking) -> Iterator[subprocess.Popen[str]]:
    """`advance idle` as a process of its own, with receivers that take their time, once it runs."""
    for number in range(6):
        asking.pay(f"order-{number}")
    asking.json("advance", "1s")
    control = Control(asking.url, asking.sandbox, None)
    control.ask("PUT", "/inbox/callbacks", {"replies": [{"status": 200, "delay": "400ms"}] * 12})
    command = [
        sys.executable,
        "-m",
        "reseller_sim",
        "advance",
        "idle",
        "--url",
        asking.url,
        "--sandbox",
        asking.sandbox,
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while clock(asking)["advancing"] is None:
            assert process.poll() is None
        yield process


def test_an_interrupted_advance_stops_and_says_where_the_clock_stands(asking: Asking) -> None:
    with advancing(asking) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    stands = clock(asking)
    assert (process.returncode, out) == (130, "")
    assert f"interrupted; the clock of {asking.sandbox} is at {clock_time(str(stands['now']))}" in err
    assert stands["pending"]


def test_an_advance_is_stopped_from_elsewhere(asking: Asking) -> None:
    with advancing(asking) as process:
        stopped = asking.json("clock", "stop")
        out, err = process.communicate(timeout=30)
    done = json.loads(out)
    assert (process.returncode, err, done["stopped"]) == (1, "", True)
    assert (stopped["now"], stopped["advancing"]) == (done["now"], None)
    assert "not being advanced" in refusal(asking.verb("clock", "stop"), 1)


@pytest.mark.parametrize("code", ["not_advancing", "forbidden"])
def test_an_advance_that_ended_before_it_was_stopped_is_no_mistake(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    ask = Control.ask

    def answer(control: Control, method: str, path: str, *rest: Any, **flags: Any) -> Any:
        if method == "POST":
            raise KeyboardInterrupt
        if method == "DELETE":
            raise BadResult("no", code)
        return ask(control, method, path, *rest, **flags)

    monkeypatch.setattr(Control, "ask", answer)
    done = invoke("advance", "idle", "--url", asking.url, "--sandbox", asking.sandbox)
    assert (done.exit_code, done.stdout) == ((130, "") if code == "not_advancing" else (1, ""))
    assert ("is at" in done.stderr) == (code == "not_advancing")
