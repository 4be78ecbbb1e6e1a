"""Paying a bill, and requesting its void or dispute."""

from typing import Any

from tests.support.client import Client, Response

CHECK, VOID = "/v2/transactions/check", "/v2/transactions/void"
ACCOUNT = "210012345678"
PAID = {"payments": [{"when": {}, "then": [{"status": "Succesful"}]}]}


def pay_bill(client: Client, refid: str = "ref-1", **more: Any) -> str:
    """Pay an electricity bill; returns its trxid."""
    assert client.pay(refid, "100", "ELECTRIC", account=ACCOUNT, **more).status == 200
    return trxid_of(client, refid)


def trxid_of(client: Client, refid: str) -> str:
    (found,) = client.sim("GET", f"/sandboxes/default/transactions?refid={refid}").json["transactions"]
    return str(found["trxid"])


def void(client: Client, refid: str = "ref-1", **more: Any) -> Response:
    headers = {name: more.pop(name) for name in ("headers", "key", "secret") if name in more}
    return client.call("POST", VOID, {"refid": refid, "refund_type": 1, **more}, **headers)


def cases(client: Client, refid: str = "ref-1") -> list[Any]:
    story = client.sim("GET", f"/sandboxes/default/transactions/{trxid_of(client, refid)}").json
    made: list[Any] = story["cases"]
    return made
