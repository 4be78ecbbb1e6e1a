"""Why requests were refused: of a wrong signature, what the whole autopsy of the journal found."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reseller_sim.clocks import real_monotonic
from reseller_sim.control import below
from reseller_sim.errors import NotRunning, SimulatorError

if TYPE_CHECKING:
    from reseller_sim.sandbox import Sandbox

EXPLAINED_MAX = 10
"""Of how many the autopsy is asked for, since each is a search."""

EXPLAINING_S = 10.0
"""How long all of them may take, so that a simulator that hangs holds up no failed test."""

WRONG_SIGNATURE = frozenset({"invalid_signature", "invalid_signature_format"})


def explained(sandbox: "Sandbox", rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of the journal, in their order. The first ones with a wrong signature have the autopsy's sentence and its
    fix as their `diagnosis`, as far as the simulator answers in time: whoever asks has an error of its own to show."""
    left, ends = EXPLAINED_MAX, real_monotonic() + EXPLAINING_S
    for row in rows:
        said = ""
        if row.get("error") in WRONG_SIGNATURE and left:
            try:
                said = _autopsy(sandbox, row["n"], max(0.0, ends - real_monotonic()))
                left -= 1
            except NotRunning:
                left = 0
        yield {**row, "diagnosis": said} if said else dict(row)


def _autopsy(sandbox: "Sandbox", n: int, timeout_s: float) -> str:
    """What the signature of a request shows; empty when the journal has neither any more. Raises `NotRunning`."""
    try:
        path = below("/requests", str(n))
        found = sandbox.ask("GET", path, timeout_s=timeout_s).get("autopsy")
    except SimulatorError:
        return ""
    return f"{found['sentence']}; {found['fix']}" if found and found["mistakes"] else ""
