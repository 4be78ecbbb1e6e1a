"""The first folder of a collection: requests in an order that shows how the parts work together, with checks.

Conditions and values are JavaScript of 2016, since editors have old engines, over `status`, `answer` (the body) and
`recall(name)` (a variable).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.contract.openapi import CONTROL, OPENAPI

# Decodes to 32 zero bytes, which no request is signed with.
WRONG_SIGNATURE = f"v1={'A' * 43}="


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a journey: an operation, and what differs from its sample. `checks` are sentences with their
    conditions, `statuses` the only ones that are right, `remembers` variables with the values that they get."""

    operation: str
    title: str
    checks: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    remembers: Mapping[str, str] = field(default_factory=dict)
    statuses: tuple[int, ...] = (200,)


# What later requests use of an answer, whichever request of the operation it answers. Undefined values are not kept.
REMEMBERED: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    OPENAPI: {
        "createToken": {"refresh_token": "answer.RefreshToken"},
        "createPayment": {"refid": "answer.data.refid"},
        "listTransactions": {"trxid": "(answer.data[0] || {}).trxid"},
        "listDeliveries": {"jobId": "(answer.deliveries[0] || {}).id"},
    },
    CONTROL: {
        "createSandbox": {"sandbox": "answer.id"},
        "addRule": {"rule": "answer.id"},
        "addApiKey": {"key": "answer.api_key"},
        "listRequests": {"request_n": "(answer.requests[0] || {}).n"},
        "listTransactions": {"trxid": "(answer.transactions[0] || {}).trxid"},
        "listSandboxDeliveries": {"job": "(answer.deliveries[0] || {}).id"},
    },
}

_BALANCE = "(answer.data || answer).balance"
_LISTED = 'answer.data.find((one) => one.refid === recall("refid"))'

JOURNEYS: Mapping[str, tuple[Step, ...]] = {
    OPENAPI: (
        Step(
            "getBalance",
            "What the wallet has",
            {"the balance is a number": f"Number.isFinite({_BALANCE})"},
            remembers={"balance": _BALANCE},
        ),
        Step(
            "createPayment",
            "Pay",
            {
                "the payment is under way, or was successful at once": (
                    '["Accepted", "Processing", "Succesful"].includes(answer.data.status)'
                ),
                "the answer has the refid of this request": 'answer.data.refid === recall("new_refid")',
            },
            remembers={"payment_day": "answer.data.timestamp.slice(0, 10)"},
        ),
        Step(
            "createPayment",
            "Ask for its status, with the same refid",
            {
                "it is the same payment": 'answer.data.refid === recall("refid")',
                "it has not failed": '["Accepted", "Processing", "Succesful"].includes(answer.data.status)',
            },
            body={"refid": "{{refid}}"},
        ),
        Step(
            "getBalance",
            "The wallet has paid",
            {"the balance is lower than before": f'{_BALANCE} < Number(recall("balance"))'},
        ),
        Step(
            "listTransactions",
            "Find it in the history",
            {"the history has the payment": f"{_LISTED} !== undefined"},
            query={"date": "{{payment_day}}", "limit": "10"},
            remembers={"trxid": f"{_LISTED}.trxid"},
        ),
        Step(
            "getBalanceStatement",
            "Find what it cost in the statement",
            {"the day has entries": "answer.data.length > 0"},
            query={"date": "{{payment_day}}"},
        ),
        Step(
            "disputePayment",
            "Dispute it",
            {
                "the answer is about this payment": 'answer.data.refid === recall("refid")',
                "it is accepted, or refused with a message": (
                    '["Success", "Failed"].includes(answer.data.status) && answer.data.message.length > 0'
                ),
            },
        ),
        Step(
            "voidPayment",
            "Void it",
            {
                "the answer is about this payment": 'answer.data.refid === recall("refid")',
                "it is accepted, or refused with a message": (
                    '["Success", "Failed"].includes(answer.data.status) && answer.data.message.length > 0'
                ),
            },
            body={"trxid": "{{trxid}}"},
        ),
        Step(
            "getBalance",
            "A wrong signature is refused",
            {"the code says why": 'answer.error === "invalid_signature"'},
            headers={"X-Signature": WRONG_SIGNATURE},
            statuses=(401,),
        ),
    ),
    CONTROL: (
        Step("getHealth", "The server is up", {"it says so": 'answer.status === "ok"'}),
        Step(
            "createSandbox",
            "Create a sandbox whose clock stands still",
            {"it has a reseller": "answer.resellers.length > 0"},
            body={"clock": {"mode": "manual"}},
            remembers={"balance": "answer.resellers[0].balance", "time": "answer.clock.now"},
            statuses=(201,),
        ),
        Step(
            "addRule",
            "Let payments of one account fail",
            {"it has an id": "answer.id.length > 0"},
            body={
                "section": "payments",
                "rule": {"name": "declined", "when": {"account": "0100000048"}, "then": [{"status": "Failed"}]},
            },
            statuses=(201,),
        ),
        Step(
            "addDeposit",
            "Pay 100.00 into the wallet",
            {"the balance is 100.00 more": 'answer.balance === Number(recall("balance")) + 100'},
            body={"amount": "100.00"},
            statuses=(201,),
        ),
        Step(
            "advanceClock",
            "Let a minute pass",
            {"the clock shows it": '(new Date(answer.now) - new Date(recall("time"))) === 60000'},
            body={"seconds": 60},
        ),
        Step("deleteSandbox", "Delete the sandbox", {}, statuses=(204,)),
    ),
}
