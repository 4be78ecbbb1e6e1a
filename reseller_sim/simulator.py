"""A running simulator: one of its own process, or one that was started elsewhere."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from reseller_sim.arguments import checked
from reseller_sim.control import Control, sandbox_path, wrong_answer
from reseller_sim.durations import RATE, moment
from reseller_sim.parameters import Clock, Credentials, Header, Name, Scenario, Url, is_url
from reseller_sim.process import Process
from reseller_sim.sandbox import Sandbox

DEFAULT_URL = "http://127.0.0.1:8080"
YAML = "application/yaml"


@checked
class Simulator:
    """The simulator at `url`, with the control API's `token` where it wants one.

    Without a URL it is the one of RESELLER_SIM_URL and RESELLER_SIM_TOKEN or RESELLER_SIM_CONTROL_TOKEN, otherwise the
    one at http://127.0.0.1:8080. `with` closes it, which ends a process that `start` started and nothing else.
    """

    def __init__(self, url: Url | None = None, token: Header | None = None) -> None:
        own = os.environ if url is None else {}
        address = url or own.get("RESELLER_SIM_URL") or DEFAULT_URL
        if not is_url(address):
            raise ValueError(f"RESELLER_SIM_URL must be a URL such as {DEFAULT_URL}, not {address!r:.200}")
        found = token or own.get("RESELLER_SIM_TOKEN") or own.get("RESELLER_SIM_CONTROL_TOKEN")
        self.control = Control(address, found)
        self._process: Process | None = None
        self._folder: Path | None = None

    @classmethod
    def start(
        cls,
        scenario: Name | Path | None = None,
        *,
        clock: Clock | None = None,
        seed: int | None = None,
        scenarios: Name | Path | None = ".",
        arguments: Sequence[str] = (),
    ) -> "Simulator":
        """Start one on a free port and wait until it answers.

        `scenario`, `clock` and `seed` are those of its default sandbox, `arguments` more flags of `reseller-sim serve`.
        Sandboxes can be made of scenario files below the folder `scenarios`, with what they extend. Raises
        `NotStarted`.
        """
        wanted = [] if scenario is None else [str(scenario)]
        wanted += [] if clock is None else ["--clock", clock]
        wanted += [] if seed is None else ["--seed", str(seed)]
        wanted += [] if scenarios is None or "--scenarios" in arguments else ["--scenarios", str(scenarios)]
        process = Process([*wanted, *arguments])
        simulator = cls(process.ready["url"], process.ready.get("control_token"))
        simulator._process = process
        simulator._folder = None if scenarios is None or "--scenarios" in arguments else Path(scenarios).resolve()
        return simulator

    @property
    def url(self) -> str:
        """The root URL."""
        return self.control.root

    @property
    def control_url(self) -> str:
        """The URL of the control API, ending in `/_sim`."""
        return self.control.url

    @property
    def output(self) -> list[str]:
        """The latest lines that the process printed; none of one that was started elsewhere."""
        return list(self._process.lines) if self._process else []

    def health(self) -> dict[str, Any]:
        """`{"status": "ok", "version"}`. Raises `NotRunning`."""
        found: dict[str, Any] = self.control.ask("GET", "/health")
        if found["status"] != "ok":
            raise wrong_answer("GET", f"{self.control_url}/health", "its status is not ok")
        return found

    def sandboxes(self) -> list[dict[str, Any]]:
        """Every sandbox, as the control API describes it."""
        found: list[dict[str, Any]] = self.control.ask("GET", "/sandboxes")["sandboxes"]
        return found

    def sandbox(
        self,
        scenario: Scenario | None = None,
        *,
        id: Name | None = None,
        clock: Clock | None = "manual",
        start: Name | datetime | None = None,
        seed: int | None = None,
        credentials: Credentials | None = None,
        audit: bool = True,
    ) -> Sandbox:
        """Make a sandbox, which `with` deletes.

        `scenario` is the name of a bundled one, the path of a YAML file, YAML text or a mapping; without it the
        server's own. `clock` is `manual`, `real` or such as `x60`, None for the scenario's; `start` its first time;
        `credentials` is `unique` for keys that no other sandbox has; `audit` false for one that `reseller-sim exec
        --audit` passes over, as obligations are violated in it on purpose. Raises `SimulatorError`, and `OSError` for a
        file.
        """
        own = {"id": id, "seed": seed, "credentials": credentials}
        judged = None if audit else False  # said only then, since a simulator before this one does not know it
        first = None if start is None else moment(start)
        text, value = self._read(scenario)
        if text is not None:
            query = own | {"clock": clock, "start": first, "audit": None if audit else "false"}
            made = self.control.send("POST", "/sandboxes", text.encode(), YAML, query)
        else:
            wanted = own | {"scenario": value, "clock": _clock(clock, first), "audit": judged}
            body = {name: part for name, part in wanted.items() if part is not None}
            made = self.control.ask("POST", "/sandboxes", body)
        return Sandbox(self.control, made, is_ours=True)

    def open(self, id: Name = "default") -> Sandbox:
        """One that exists, which `with` does not delete. Raises `SimulatorError`."""
        return Sandbox(self.control, self.control.ask("GET", sandbox_path(id)))

    def _read(self, scenario: Scenario | None) -> tuple[str | None, Any]:
        """The scenario as YAML, or what the control API takes in its place."""
        if isinstance(scenario, Mapping):
            return None, dict(scenario)
        if scenario is None:
            return None, None
        if isinstance(scenario, str) and ("\n" in scenario or ": " in scenario):
            return scenario, None
        path = Path(scenario)
        if isinstance(scenario, str) and path.suffix not in (".yaml", ".yml"):
            return None, scenario
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"the scenario {path} is not text in UTF-8") from None
        if self._folder is not None and path.resolve().is_relative_to(self._folder):
            return None, {"file": path.resolve().relative_to(self._folder).as_posix()}
        return text, None

    def close(self) -> None:
        """End the process that `start` started; of one that was started elsewhere nothing changes."""
        if self._process is not None:
            self._process.close()

    def __enter__(self) -> "Simulator":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Simulator({self.url!r})"


def _clock(clock: str | None, start: str | None) -> dict[str, Any] | None:
    """`x60` as the mode and rate of the control API, which refuses a mode that it does not know."""
    wanted: dict[str, Any] = {} if start is None else {"start": start}
    if clock is not None and (rate := RATE.fullmatch(clock)):
        wanted |= {"mode": "xN", "rate": float(rate[1])}
    elif clock is not None:
        wanted["mode"] = clock
    return wanted or None
