"""One payment of a run: its requests' answers and the wallet around them, and what an answer says."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.conform.purse import Order
from simulator.staging.conform.service import Answer
from simulator.wire.payments import STATUS_NAMES

STATUSES = {status.value: name for status, name in STATUS_NAMES.items()}
PENDING = (STATUSES["accepted"], STATUSES["processing"])
PAID = STATUSES["successful"]
# What the history calls a payment that changes no more.
FINAL_NAMES = {PAID: "Successful", STATUSES["failed"]: "Failed", STATUSES["refunded"]: "Refund"}


@dataclass(slots=True)
class Payment:
    """One refid: `answers` are those of all its POSTs in their order, `balances` the wallet before the first one, after
    it, and after it was sent again; `lost` says how an answer was lost. `reserved` is what its creation may have cost,
    `asked` how often it was sent again after its first answer, `recorded` what the history called it last."""

    order: Order
    refid: str
    body: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)
    balances: list[Decimal] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    reserved: Decimal = Decimal(0)
    asked: int = 0
    recorded: str = ""

    @property
    def first(self) -> Answer:
        """The answer that made it."""
        return self.answers[0]

    @property
    def last(self) -> dict[str, Any]:
        """The newest state that an answer reports."""
        states = (state_of(answer) for answer in reversed(self.answers))
        return next(filter(None, states), {})

    @property
    def is_final(self) -> bool:
        """Whether it changes no more, but for a void."""
        return self.last.get("status") not in PENDING

    @property
    def is_over(self) -> bool:
        """The same, or the history says so."""
        return self.is_final or self.recorded in FINAL_NAMES.values()

    @property
    def fall(self) -> Decimal:
        """What the wallet lost by its creation."""
        return self.balances[0] - self.balances[1] if len(self.balances) > 1 else Decimal(0)

    @property
    def cost(self) -> Decimal:
        """What the first answer says that it costs; 0 where it says nothing."""
        return cost_of(self.first)


def state_of(answer: Answer) -> dict[str, Any]:
    """`data` of a payment's answer; empty where there is none."""
    try:
        data = answer.at("data")
    except Departs:
        return {}
    return data if isinstance(data, dict) else {}


def cost_of(answer: Answer) -> Decimal:
    """What a payment's answer says that it costs; 0 where it says nothing."""
    cost = state_of(answer).get("cost")
    return Decimal(cost) if isinstance(cost, int | Decimal) and not isinstance(cost, bool) else Decimal(0)


def balance_of(answer: Answer) -> Decimal:
    """The balance in either shape of the register (`balance-record`). Raises `NotExercised` for any other."""
    try:
        value = answer.json
    except Departs:
        value = None
    inner = value.get("data", value) if isinstance(value, dict) else None
    balance = inner.get("balance") if isinstance(inner, dict) else None
    if answer.status != 200 or isinstance(balance, bool) or not isinstance(balance, int | Decimal):
        raise NotExercised(f"the balance cannot be read: {answer}")
    return Decimal(balance)
