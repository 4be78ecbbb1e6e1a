"""A figure beside its target."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was measured and what it may be at most, both in the same unit. A figure without a
    target only explains another."""

    title: str
    measured: float
    unit: str
    target: float | None = None

    @property
    def is_met(self) -> bool:
        """True when it is within its target, or has none."""
        return self.target is None or self.measured <= self.target

    def cells(self) -> tuple[str, str, str, str]:
        """Return the row of a table, with a mark when it misses its target."""
        target = "" if self.target is None else f"at most {self.target:,.4g}"
        return self.title, f"{self.measured:,.4g} {self.unit}", target, "" if self.is_met else "MISSED"
