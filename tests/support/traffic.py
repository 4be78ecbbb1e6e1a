"""The traffic between a test's client and the simulator, as a proxy would see it, and its repetition elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

from simulator.domain.model.instants import instant
from simulator.staging.recorder.recorder import TrafficRecorder
from simulator.staging.recorder.traffic_values import callback_result
from simulator.wire.traffic import Call, Notification
from tests.support.client import Client, Response, running
from tests.support.runner import expect_accepted

NEWER = {"X-API-Version": "2026-09-16"}


@dataclass(frozen=True)
class Ask:
    """A request."""

    method: str
    target: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Step = float | Ask
"""Seconds that pass, or a request."""


@dataclass
class Traffic:
    """The calls and notifications of a sandbox, and the answers as the client got them."""

    calls: list[Call] = field(default_factory=list)
    notifications: list[Notification] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)

    def recorded(self, **options: Any) -> str:
        """The scenario that a recorder makes of it."""
        recorder = TrafficRecorder(**options)
        seen: list[tuple[datetime, int, Call | Notification]] = [(one.at, 1, one) for one in self.calls]
        seen += [(one.at, 0, one) for one in self.notifications]
        for _, _, one in sorted(seen, key=lambda row: row[:2]):
            if isinstance(one, Call):
                recorder.note_call(one)
            else:
                recorder.note_notification(one)
        return recorder.scenario_text()


def pay(refid: str, product: str = "RELOAD", amount: Any = "10", account: str = "0123456789", **more: Any) -> Step:
    """A payment, or its re-query."""
    body = {"refid": refid, "product": product, "account": account, "amount": amount, **more}
    return Ask("POST", "/v2/topup", body)


def get(target: str, *, newer: bool = True) -> Step:
    """A question, in the newer API version."""
    return Ask("GET", target, headers=NEWER if newer else {})


def play(client: Client, steps: Iterable[Step]) -> Traffic:
    """Take the steps, one after another."""
    traffic = Traffic()
    for step in steps:
        if isinstance(step, int | float):
            client.advance(step)
            continue
        at = client.live.clock.now()
        answer = client.call(step.method, step.target, step.body, headers=step.headers)
        path, _, query = step.target.partition("?")
        call = Call(
            n=len(traffic.calls) + 1,
            at=at,
            method=step.method,
            path=path,
            query=query.encode(),
            headers=tuple((name.encode(), value.encode()) for name, value in step.headers.items()),
            body=client.encoded(step.body),
            status=answer.status,
            answer=answer.body,
        )
        traffic.calls.append(call)
        traffic.answers.append(answer)
    traffic.notifications = list(notifications(client))
    return traffic


def notifications(client: Client) -> Iterable[Notification]:
    """Every callback and webhook that the inboxes received."""
    kinds: tuple[tuple[str, Literal["callback", "webhook"]], ...] = (("callbacks", "callback"), ("webhooks", "webhook"))
    for name, kind in kinds:
        for item in client.inbox(name):
            yield Notification(
                n=item["n"],
                at=instant(item["at"]),
                kind=kind,
                method=item["method"],
                url=f"https://shop.example.com/hook?{urlencode(item['query'], quote_via=quote)}",
                body=item["body"].encode(),
                status=item["status"],
            )


def outcomes(traffic: Traffic) -> list[tuple[int, Any]]:
    """Return the outcomes that a client reads from the answers: the status, and the result of payments, voids and
    disputes."""
    found: list[tuple[int, Any]] = []
    for call, answer in zip(traffic.calls, traffic.answers, strict=True):
        said: Any = None
        if call.method == "POST" and answer.status in (200, 400):
            data = answer.json.get("data", {})
            said = {name: data.get(name) for name in ("status", "statusCode", "remarks", "message", "amount")}
        elif call.path == "/v2/bill-presentment":
            said = {name: bool(value) for name, value in answer.data.items()}, answer.json["error_message"]
        found.append((answer.status, said))
    return found


def tellings(traffic: Traffic) -> list[tuple[datetime, str, str]]:
    """Which callbacks came when."""
    callbacks = [one for one in traffic.notifications if one.kind == "callback"]
    return sorted((one.at, (data := callback_result(one))["refid"], data["status"]) for one in callbacks)


def checked(text: str, folder: Path, *facts: str) -> str:
    """Return the path of a scenario. `check` must accept it with exactly these facts, which come from the service."""
    path = folder / "recorded.yaml"
    path.write_text(text)
    expect_accepted(path, *facts)
    return str(path)


def replayed(text: str, steps: Sequence[Step], folder: Path) -> Traffic:
    """Play the same steps against the recorded scenario."""
    with running(checked(text, folder)) as client:
        return play(client, steps)
