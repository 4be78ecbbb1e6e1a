"""Which of a server's flags change nothing, since its folder has the default sandbox already."""

from pathlib import Path

from simulator.app import App
from simulator.runtime.clock import effective_rate
from simulator.runtime.sandboxes import DEFAULT


def ignored_flags(app: App, folder: Path, *, follows_scenario: bool) -> str:
    """Return a line about those that differ from what it has; nothing without any. `--callback` is part of the scenario
    that it follows."""
    flags = _ignored(app, follows_scenario=follows_scenario)
    own = "its own" if len(flags) == 1 else "its own of each"
    return f"{', '.join(flags)}: ignored, since {folder} has the sandbox {DEFAULT} already, with {own}" if flags else ""


def _ignored(app: App, *, follows_scenario: bool) -> list[str]:
    options, live = app.options, app.sandboxes.get(DEFAULT)
    state, resellers = live.core.state, live.spec.scenario.resellers
    of_others = {
        "--seed": options.seed not in (None, state.seed),
        "--clock": options.mode is not None
        and (options.mode, effective_rate(options.mode, options.rate or 1.0)) != (live.clock.mode, live.clock.rate),
        "--start": options.start not in (None, live.beginning.started),
        "--callback": not follows_scenario
        and options.callback is not None
        and any(one.callback.url != options.callback for one in resellers),
    }
    return [flag for flag, is_of_another in of_others.items() if is_of_another]
