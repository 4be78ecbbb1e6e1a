"""What one run of a command did, as far as faults can strike it and verdicts depend on it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from simulator.domain.model.transactions import Status

GIVEN_BACK: Final = frozenset({Status.FAILED, Status.REFUNDED})
"""The statuses of a payment whose money the wallet has again."""


@dataclass(frozen=True, slots=True, order=True)
class Order:
    """What a payment is for. `amount` has two decimals."""

    product: str
    account: str
    amount: str

    def __str__(self) -> str:
        to = f" to {self.account}" if self.account else ""
        return f"{self.product} {self.amount}{to}"


@dataclass(frozen=True, slots=True)
class SeenStep:
    """A status that a payment came to, `after_s` seconds after its creation; the texts are those of its answer."""

    status: str
    code: int
    after_s: float
    texts: tuple[tuple[str, str], ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class SeenPayment:
    """The `nth` payment of an order, from 1; `callbacks` are the statuses of which callbacks were sent."""

    order: Order
    nth: int
    steps: tuple[SeenStep, ...]
    callbacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Breach:
    """An obligation of the audit that was violated, with the first finding."""

    id: str
    is_error: bool
    text: str


@dataclass(slots=True)
class Seen:
    """All sandboxes of a run together. `exchanges` has the most requests of each kind, (method, path), that one sandbox
    got; `kept` counts the payments of each order that were not given back; `unmet` has the expectations that were not
    met; `struck` the labels of rules that decided something. `first_s` seconds after its start a sandbox got its first
    request, by its own clock."""

    exchanges: dict[tuple[str, str], int] = field(default_factory=dict)
    payments: list[SeenPayment] = field(default_factory=list)
    kept: Counter[Order] = field(default_factory=Counter)
    unmet: dict[str, str] = field(default_factory=dict)
    breaches: dict[str, Breach] = field(default_factory=dict)
    struck: set[str] = field(default_factory=set)
    first_s: float = 0.0


@dataclass(slots=True)
class Outcome:
    """How a run ended. `exit_code` is None for a command that did not end in time; `output` is the last of what it
    printed; `duration_s` is wall time; `tape` the sandbox's tape, if one was asked for and there is one."""

    exit_code: int | None
    duration_s: float
    output: str
    seen: Seen
    tape: bytes | None = None
