"""One long day in a sandbox, as every byte that it answers; run as a program it prints them."""

import asyncio
from typing import Any

from tests.support.client import Client, running

SCENARIO: dict[str, Any] = {
    "scenario": "tape",
    "extends": "default",
    "clock": {"mode": "manual", "start": "2026-11-21T04:00:00Z"},
    "timelines": {
        "late": [
            {"status": "Accepted"},
            {"after": "3s", "status": "Processing"},
            {"at": "12:10", "status": "Succesful"},
        ]
    },
    "payments": [
        {
            "name": "fails",
            "when": {"amount": 5, "account": {"suffix": "1"}},
            "then": [{"status": "Failed", "remarks": "HC"}],
        },
        {
            "name": "mixed",
            "when": {"amount": 7},
            "then": {"one_of": [{"weight": 2, "then": "late"}, {"then": [{"status": "Failed"}]}]},
            "callbacks": [{"status": "Succesful", "drop": True}, {"status": "Processing", "again_after": "15m"}],
        },
        {
            "name": "sometimes",
            "when": {"amount": 20},
            "chance": 0.5,
            "then": [{"status": "Accepted"}, {"after": "3s", "status": "Failed", "statusCode": 48}],
            "callbacks": {"duplicate": 1, "reverse": True},
        },
    ],
    "faults": [{"when": {"path": "/v2/balance", "chance": 0.3}, "then": {"status": 504}}],
    "schedule": [
        {"at": "2s", "rule": {"add": {"payments": {"name": "late", "chance": 0.5, "then": [{"status": "Failed"}]}}}},
        {"at": "3s", "settings": {"reseller": "RS001", "callback": {"url": "inbox:other"}}},
        {"at": "3s", "api_key": {"reseller": "RS001", "key": "added", "secret": "bm90LWEtc2VjcmV0LWF0LWFsbA=="}},
        {"at": "4s", "webhook": {"reseller": "RS001", "secret": "ab" * 32, "enabled": True}},
        {"at": "5s", "network": {"product": "RELOAD", "status": "Interruption"}},
        {"at": "6s", "rule": {"remove": "late"}},
        {
            "at": "6s",
            "rule": {"add": {"faults": {"name": "at last", "when": {"nth": 9}, "then": {"status": 500}}}},
        },
        {"at": "10s", "deposit": {"reseller": "RS001", "amount": "500.00", "description": "bank transfer"}},
        {"at": "11s", "webhook": {"reseller": "RS001", "enabled": False}},
    ],
}


async def play(client: Client, sandbox: str) -> list[bytes]:
    """Pay, ask, advance, and read everything back; nonces and timestamps are the same in every run."""
    bodies: list[bytes] = []

    async def api(method: str, target: str, body: Any = None) -> None:
        nonce = f"tape-nonce-{len(bodies):08d}"
        bodies.append((await client.acall(method, target, body, sandbox=sandbox, nonce=nonce)).body)
        await asyncio.sleep(0)

    async def sim(method: str, path: str, body: Any = None) -> None:
        bodies.append((await client.asim(method, f"/sandboxes/{sandbox}{path}", body)).body)

    await api("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"})
    await sim("PUT", "/inbox/webhooks", {"replies": [{"status": 500}, {"status": 200}]})
    for number in range(12):
        amount = ("5", "10", "20", "7")[number % 4]
        body = {"refid": f"r{number}", "product": "RELOAD", "account": f"012345678{number % 3}", "amount": amount}
        await api("POST", "/v2/topup", body)
        await api("GET", "/v2/balance")
        if number % 3 == 2:
            await sim("POST", "/clock/advance", {"seconds": 2})
    await sim(
        "PUT", "/inbox/callbacks", {"replies": [{"status": 500}, {"status": 200}, {"status": 503}, {"status": 200}]}
    )
    await sim("POST", "/clock/advance", {"until": "idle"})
    for path in ("/transactions", "/callbacks", "/inbox/callbacks", "/deliveries", "/inbox/webhooks", "/clock"):
        await sim("GET", path)
    await sim("GET", "/invariants")
    await api("GET", "/v2/balance-webhook/deliveries")
    for target in ("transactions?limit=5&date=2026-11-21&status=FAILED", "balance-statement?limit=5&date=2026-11-21"):
        await api("GET", f"/v2/{target}")
    await api("GET", "/v2/catalog")
    return bodies


def main() -> None:
    """Print the answers of a sandbox."""
    with running(SCENARIO) as client:
        for body in client.run(play(client, "default")):
            print(body.decode())


if __name__ == "__main__":
    main()
