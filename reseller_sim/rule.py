"""A rule that was added to a sandbox."""

from reseller_sim.arguments import checked
from reseller_sim.control import Control, below


class Rule:
    """A rule that was added; `remove` deletes it."""

    @checked
    def __init__(self, control: Control, path: str, id: str) -> None:
        self.id = id
        self._control = control
        self._path = path

    def remove(self) -> None:
        """Delete it; payments that it decided continue."""
        self._control.ask("DELETE", below(self._path, "rules", self.id))

    def __repr__(self) -> str:
        return f"Rule({self.id!r})"
