"""`GET /v2/balance`: the balance of the reseller's wallet (SPEC 4.15)."""

from simulator.api.call import Call, Reply
from simulator.wire import wallet


def balance(call: Call) -> Reply:
    """200 with the wallet's balance."""
    flat = call.sandbox.core.state.assumes("balance-record", "flat")
    return Reply(200, wallet.balance(call.owner.wallet.balance, flat=flat))
