"""The result of an advance, and what ends one before its target."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from simulator.domain.due import Fired

EVENTS_MAX = 100_000
IDLE_SPAN_MAX = timedelta(days=366)
FIRED_REPORTED_MAX = 1_000


@dataclass(slots=True)
class Advance:
    """The result of an advance. `stopped` says why it ended before its target; `left_out` counts what `fired` omits."""

    fired: list[Fired] = field(default_factory=list)
    left_out: int = 0
    events: int = 0
    stopped: str = ""
    is_idle: bool = False

    def record(self, fired: Sequence[Fired]) -> None:
        """Note what happened, within bounds."""
        self.events += len(fired)
        room = FIRED_REPORTED_MAX - len(self.fired)
        self.fired.extend(fired[:room])
        self.left_out += max(0, len(fired) - room)


def reason_to_stop(report: Advance, due: datetime, began: datetime, target: datetime | None) -> str:
    """Why an advance that `began` then stops before what is `due` next; empty to go on. `target` None is until idle."""
    if report.events >= EVENTS_MAX:
        return f"stopped after {EVENTS_MAX} events; advance again to go on"
    if target is None and due - began > IDLE_SPAN_MAX:
        over = f"over {IDLE_SPAN_MAX.days} days after this began"
        return f"what is next is due at {due.isoformat()}, {over}; advance to then"
    return ""
