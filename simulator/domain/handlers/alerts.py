"""Low-balance alerts: one e-mail whenever a wallet falls below its reseller's threshold (SPEC 2.9, 4.16).

The wallet detects the crossing with one comparison for each entry. A balance already below does not cross, so the next
alert requires that the balance was at or above the threshold in between.
"""

from datetime import datetime
from decimal import Decimal
from weakref import ref

from simulator.domain.commands import SetThreshold
from simulator.domain.errors import Unacceptable
from simulator.domain.model.money import CENT, is_bounded, is_whole_cents
from simulator.domain.model.notifications import NotificationKind
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Entry
from simulator.domain.state import State

THRESHOLD_MIN = Decimal(1)


def enable_alerts(state: State, reseller: Reseller, threshold: Decimal | None) -> None:
    """Alert whenever this reseller's wallet falls below its threshold; None for no threshold yet."""
    owner, code, wallet = ref(state), reseller.code, reseller.wallet  # weakly, or the collector alone could free it all

    def alert(entry: Entry) -> None:
        alive = owner()
        assert alive is not None, "its wallets are in it"
        _alert(alive, alive.resellers[code], entry.at)

    wallet.on_low = alert
    if threshold is not None:
        wallet.threshold = threshold


def set_threshold(state: State, command: SetThreshold, now: datetime) -> Reseller:
    """Set a reseller's threshold. Raises `Unacceptable` below 1 and for fractions of a sen."""
    amount = command.amount
    if not is_bounded(amount) or amount < THRESHOLD_MIN or not is_whole_cents(amount):
        raise Unacceptable("invalid_amount", "a threshold is at least 1, with at most two decimals", "amount")
    reseller = state.resellers[command.reseller]
    reseller.wallet.threshold = amount.quantize(CENT)
    if reseller.wallet.balance < amount and state.assumes("low-balance-at-setting", "alert"):
        _alert(state, reseller, now)
    return reseller


def _alert(state: State, reseller: Reseller, now: datetime) -> None:
    wallet = reseller.wallet
    balance, threshold = f"RM {wallet.balance:.2f}", f"RM {wallet.threshold:.2f}"
    text = f"The balance of {reseller.code} is {balance}, below the threshold of {threshold}."
    notification = state.notifications.add(
        at=now,
        kind=NotificationKind.LOW_BALANCE,
        reseller=reseller.code,
        to=[reseller.email],
        subject="Low balance",
        text=text,
    )
    state.publish(notification)
