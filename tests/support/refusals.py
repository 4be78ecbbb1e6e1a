"""A refusal has no side effects: the common assertions of its tests."""

from typing import Any

from tests.support.client import Client, Response


def pay(client: Client, body: dict[str, Any], **more: Any) -> Response:
    """`POST /v2/topup` with this body."""
    return client.call("POST", "/v2/topup", {"refid": "r"} | body, **more)


def footprint(client: Client) -> tuple[Any, ...]:
    """Return the state that a refusal must not change: transactions, refids, ledger, wallet, agenda, callbacks."""
    state = client.live.core.state
    resellers = state.resellers.values()
    return (
        list(state.transactions),
        [list(one.refids) for one in resellers],
        [(one.wallet.balance, len(one.wallet.entries)) for one in resellers],
        state.agenda.next_due,
        state.callbacks_made,
        client.live.core.violations(),
    )


def refuse(client: Client, body: dict[str, Any], code: int, remarks: str = "", **more: Any) -> dict[str, Any]:
    """Send a payment and assert that it is refused without side effects. Return the answer's data."""
    before = footprint(client)
    answer = pay(client, body, **more)
    data: dict[str, Any] = answer.data
    assert (answer.status, data["statusCode"], data["status"], data["cost"]) == (400, code, "Failed", 0), data
    assert not remarks or data["remarks"] == remarks
    assert footprint(client) == before
    assert not client.live.core.violations()
    return data
