"""Why requests were refused: of a wrong signature, what the whole autopsy of the journal found."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reseller_sim.control import below
from reseller_sim.errors import SimulatorError
from reseller_sim.shapes import EXCHANGE

if TYPE_CHECKING:
    from reseller_sim.sandbox import Sandbox

EXPLAINED_MAX = 10
"""Of how many the autopsy is asked for, since each is a search."""

WRONG_SIGNATURE = frozenset({"invalid_signature", "invalid_signature_format"})


def explained(sandbox: "Sandbox", rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of the journal, in their order. The first ones with a wrong signature have the autopsy's sentence and its
    fix as their `diagnosis`."""
    left = EXPLAINED_MAX
    for row in rows:
        said = ""
        if row.get("error") in WRONG_SIGNATURE and left:
            left -= 1
            said = _autopsy(sandbox, row["n"])
        yield {**row, "diagnosis": said} if said else dict(row)


def _autopsy(sandbox: "Sandbox", n: int) -> str:
    """What the signature of a request shows; empty when the journal has neither any more."""
    try:
        found = sandbox.ask("GET", below("/requests", str(n)), shape=EXCHANGE).get("autopsy")
    except SimulatorError:
        return ""
    return f"{found['sentence']}; {found['fix']}" if found and found["mistakes"] else ""
