"""A running simulator, which this process started or which runs elsewhere."""

import json
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from reseller_sim import launcher
from reseller_sim.control import Control, NotStarted, SimulatorError, below, given
from reseller_sim.exchange import bypass
from reseller_sim.formats import Moment, Scenario, is_url, moment
from reseller_sim.sandbox import Sandbox, warn_of

__tracebackhide__ = True  # pytest shows the line of the test
DEFAULT_URL = "http://127.0.0.1:8080"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
LINES_KEPT = 1000
LINES_SHOWN = 20
_RATE = re.compile(r"x([0-9]+(?:\.[0-9]+)?)")  # a clock that runs faster, such as x60
_USER = re.compile(r"(https?://)?.*@", re.IGNORECASE | re.DOTALL)
_BELOW_ROOT = re.compile(r"(/s/[^/]+)?(/v[12](/.*)?)?/*$")


class Simulator(AbstractContextManager["Simulator"]):
    """The simulator at `url`. `token` is the token of the control API, if it requires a token.

    Without `url`, the address comes from RESELLER_SIM_URL, and the token from RESELLER_SIM_TOKEN or
    RESELLER_SIM_CONTROL_TOKEN. The default address is http://127.0.0.1:8080. Leaving `with` closes the simulator, which
    only ends a process that `start` started. `url` is the root of the simulator, also when the address of a sandbox was
    given. `control_url` is the address of the control API, ending in `/_sim`.
    """

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        where = "" if url is not None else " in RESELLER_SIM_URL"
        if url is None:
            url = os.environ.get("RESELLER_SIM_URL") or DEFAULT_URL
            token = token or os.environ.get("RESELLER_SIM_TOKEN") or os.environ.get("RESELLER_SIM_CONTROL_TOKEN")
        if not is_url(url):
            what = f"an http or https URL such as {DEFAULT_URL}, without a user, a query and a fragment"
            shown = _USER.sub(r"\1***@", url)
            raise ValueError(f"the address of a simulator{where} must be {what}, not {shown!r:.200}")
        self.control = Control(_BELOW_ROOT.sub("", url), token)
        self.url, self.control_url = self.control.root, self.control.url
        self._process: Process | None = None
        self._folder: Path | None = None

    @classmethod
    def start(
        cls,
        scenario: str | Path | None = None,
        *,
        clock: str | None = None,
        seed: int | None = None,
        scenarios: str | Path | None = ".",
        arguments: Sequence[str] = (),
    ) -> "Simulator":
        """Start a simulator on a free port and wait until it answers.

        `scenario`, `clock` and `seed` apply to its default sandbox; `arguments` are further flags of `reseller-sim
        serve`. Sandboxes may use scenario files below the folder `scenarios`, and the files that these extend. Raises
        `NotStarted`.
        """
        folder = None if "--scenarios" in arguments else scenarios
        flags = {"--clock": clock, "--seed": seed, "--scenarios": folder}
        wanted = [] if scenario is None else [str(scenario)]
        wanted += [part for flag, value in flags.items() if value is not None for part in (flag, str(value))]
        process = Process([*wanted, *arguments])
        simulator = cls(process.ready["url"], process.ready.get("control_token"))
        simulator._process = process
        simulator._folder = None if folder is None else Path(folder).resolve()
        return simulator

    @property
    def output(self) -> list[str]:
        """The latest output lines of the process; empty for a simulator that was started elsewhere."""
        return list(self._process.lines) if self._process else []

    def health(self) -> dict[str, Any]:
        """Return `{"status": "ok", "version"}`. Raises `NotRunning`."""
        return dict(self.control.ask("GET", "/health"))

    def sandboxes(self) -> list[dict[str, Any]]:
        """Return every sandbox, as the control API describes it."""
        return list(self.control.ask("GET", "/sandboxes")["sandboxes"])

    def sandbox(
        self,
        scenario: Scenario | None = None,
        *,
        id: str | None = None,
        clock: str | None = "manual",
        start: Moment | None = None,
        seed: int | None = None,
        credentials: str | None = "unique",
        audit: bool = True,
        tape: str | Path | None = None,
        mark: str | None = None,
    ) -> Sandbox:
        """Create a sandbox. Leaving `with` deletes it.

        `scenario` is the name of a bundled scenario, the path of a YAML file, YAML text or a mapping; the default is
        the server's scenario. `clock` is `manual`, `real` or a rate such as `x60`; None uses the scenario's clock.
        `start` is the first time of the clock.

        By default the sandbox has its own keys and users, so requests to the root address reach it, too. With
        `credentials="scenario"` it has the scenario's, which other sandboxes share. With `audit` false, `reseller-sim
        exec --audit` skips the sandbox; use it for tests that violate obligations on purpose.

        With the file of a `tape`, the sandbox starts from the end of the tape or from a `mark`, with the tape's
        scenario, seed, keys and users. Raises `SimulatorError`, and `OSError` for a file.
        """
        first = None if start is None else moment(start)
        speed = _clock(clock, first)
        if tape is not None or mark is not None:
            if tape is None:
                raise ValueError("mark names a place on a tape: give the tape, too")
            if any(value is not None for value in (scenario, start, seed)):
                raise ValueError("a tape has its own scenario, start and seed: leave them out")
            made = self.control.ask("POST", "/sandboxes", Path(tape).read_bytes(), query={"id": id, "mark": mark})
            sandbox = Sandbox(self.control, made, is_ours=True)
            if speed:
                sandbox.ask("PUT", "/clock", speed)
            return sandbox
        own = {"id": id, "seed": seed, "credentials": credentials, "audit": None if audit is True else audit}
        yaml, value = self._read(scenario)
        if yaml is None:
            wanted = given(scenario=value, clock=speed or None, **own)
            made = self.control.ask("POST", "/sandboxes", wanted)
        else:
            query = {"clock": clock, "start": first, **own}
            try:
                made = self.control.ask("POST", "/sandboxes", yaml, query=query)
            except SimulatorError as refused:
                if yaml is not scenario:
                    refused.problems = tuple(_of_file(scenario, problem) for problem in refused.problems)
                raise
        warn_of(made.get("warnings", ()))
        return Sandbox(self.control, made, is_ours=True)

    def open(self, id: str = "default") -> Sandbox:
        """Return one that exists, which `with` does not delete. Raises `SimulatorError`."""
        return Sandbox(self.control, self.control.ask("GET", below("/sandboxes", id)))

    def _read(self, scenario: Scenario | None) -> tuple[str | None, Any]:
        """Return the scenario as YAML, or in another form that the control API accepts."""
        if isinstance(scenario, Mapping):
            return None, dict(scenario)
        if isinstance(scenario, str) and ("\n" in scenario or ": " in scenario):
            return scenario, None
        if scenario is None or not (isinstance(scenario, Path) or str(scenario).endswith((".yaml", ".yml"))):
            return None, scenario
        path = Path(scenario).resolve()
        if self._folder is not None and path.is_relative_to(self._folder):
            return None, {"file": path.relative_to(self._folder).as_posix()}
        return path.read_text("utf-8"), None

    def close(self) -> None:
        """End the process that `start` started. A simulator that was started elsewhere is unaffected."""
        if self._process is not None:
            self._process.close()

    def __exit__(self, *error: object) -> None:
        self.close()


def _of_file(file: object, problem: str) -> str:
    """Return the line of a problem with the file that was sent as text."""
    return f"{file}:{problem.removeprefix('line ')}" if problem.startswith("line ") else problem


def _clock(clock: str | None, start: str | None) -> dict[str, Any]:
    """Return `x60` as the mode and rate of the control API. Raises `ValueError`."""
    rate = _RATE.fullmatch(str(clock))
    if not rate and clock not in (None, "manual", "real"):
        raise ValueError(f"clock must be manual, real or a rate such as x60, not {clock!r}")
    return given(start=start, mode="xN" if rate else clock, rate=float(rate[1]) if rate else None)


class Process:
    """The command `serve` on a free port, ready to answer. `ready` is the line that says so, as JSON, `lines` are the
    latest other lines. It also ends when its stdin ends, at the latest with this process. Raises `NotStarted`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")}
        self._process = subprocess.Popen(  # noqa: S603  # our own command
            [sys.executable, launcher.__file__, "serve", "--json", "--port", "0", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=inherited | bypass(inherited, "http://127.0.0.1"),
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C ends the tests, which then clean up
        )
        assert self._process.stdout is not None
        output = self._process.stdout
        timer = self._kill_after(START_TIMEOUT_S)
        while (line := output.readline()) and not line.startswith('{"url"'):
            self.lines.append(line.rstrip("\n"))
        timer.cancel()
        threading.Thread(target=self._drain, args=(output,), name="reseller-sim output", daemon=True).start()
        try:
            self.ready: dict[str, Any] = json.loads(line)
        except ValueError:
            self.close()
            shown = [text for text in self.lines if text.strip()][-LINES_SHOWN:]
            reason = f"the simulator did not start: it ended with exit code {self._process.returncode}"
            raise NotStarted("\n  ".join([reason, *shown])) from None

    def _kill_after(self, timeout_s: float) -> threading.Timer:
        """Start a timer, since `Popen.wait` has a clock that a test may freeze."""
        timer = threading.Timer(timeout_s, self._process.kill)
        timer.daemon = True
        timer.start()
        return timer

    def _drain(self, output: IO[str]) -> None:
        """Read the output until it ends, since a full pipe would block the process."""
        with output:
            self.lines.extend(line.rstrip("\n") for line in output)

    def close(self) -> None:
        """End it; once it has ended, do nothing."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        killer = self._kill_after(STOP_TIMEOUT_S)
        self._process.wait()
        killer.cancel()
