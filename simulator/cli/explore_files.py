"""What `explore` writes besides faults: what every scenario file says, the flags of the line that shows a finding
again, and what the runs of a folder have in common."""

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from simulator.cli.flags import ServerFlags
from simulator.domain.model.scenario import Scenario
from simulator.explore.document import Base
from simulator.explore.patience import patience
from simulator.explore.quoting import joined
from simulator.explore.run import Setting
from simulator.options import LOOPBACK
from simulator.scenario.library import merged
from simulator.scenario.reading.bundled import is_path


def base_of(flags: ServerFlags, out: Path, scenario: Scenario) -> tuple[Base, float]:
    """What every scenario file says besides its faults: what it extends, what the flags say of clock and seed, so that
    `exec` needs them no more, and how long receivers may take. With the rate of the clock."""
    mode, rate = scenario.clock.mode, scenario.clock.rate
    if flags.clock is not None:
        mode, rate = flags.clock.mode, flags.clock.rate
    rate = rate if mode == "xN" else 1.0
    clock: dict[str, Any] = {"mode": mode, **({"rate": _number(rate)} if mode == "xN" else {})}
    if flags.start is not None:
        clock["start"] = flags.start.isoformat()
    is_file = is_path(flags.scenario) or Path(flags.scenario).is_file()
    extends = os.path.relpath(flags.scenario, out) if is_file else flags.scenario
    if is_file and not is_path(extends):
        extends = f"./{extends}"
    return Base(extends, clock, flags.seed, patience(scenario, rate)), rate


def _number(rate: float) -> Any:
    return int(rate) if rate == int(rate) else Decimal(str(rate))


def about(setting: Setting, base: Base, flags: ServerFlags, timeout_s: float | None) -> dict[str, Any]:
    """What the runs of a folder have in common, by the name of what differs otherwise: with anything else their
    verdicts might be others."""
    return {
        "command": setting.command,
        "scenario": [base.extends, merged(flags.scenario)],
        "clock, start or seed": [base.clock, base.seed],
        "--timeout": timeout_s,
        "flags": [str(setting.options._replace(control_token=None)), setting.host, setting.port],
    }


def repeated(flags: ServerFlags) -> str:
    """The flags that no scenario file can say, as `exec` takes them; tokens are secrets, and are not among them."""
    given = (
        ("--host", flags.host, LOOPBACK),
        ("--port", flags.port, 0),
        ("--callback", flags.callback, None),
        ("--callbacks", flags.callbacks, None),
        ("--callbacks-ca", flags.callbacks_ca, None),
        ("--sandbox-ttl", flags.sandbox_ttl, None),
        ("--tape-budget", flags.tape_budget, None),
        ("--scenarios", flags.scenarios, None),
    )
    words = [word for name, value, usual in given if value != usual for word in (name, _text(value))]
    words += [word for name in flags.allow_host for word in ("--allow-host", name)]
    words += ["--trust-forwarded"] if flags.trust_forwarded else []
    return f"{joined(words)} " if words else ""


def _text(value: object) -> str:
    return format(Decimal(repr(value)).normalize(), "f") if isinstance(value, float) else str(value)
