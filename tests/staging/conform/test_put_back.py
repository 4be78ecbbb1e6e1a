"""`conform` restores the configuration that it changes, also when requests or answers are lost."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from simulator.staging.conform.run import report
from simulator.staging.service import Answer, NoAnswer, Request
from tests.support.client import Client, running
from tests.support.conforming import Damage, Sender, conformed, run_of

CALLBACK, WEBHOOK = "/v2/callback-url", "/v2/balance-webhook"
CHANGING = ["callback-url-set", "webhook-create", "webhook-update", "webhook-enabled", "webhook-url-refused",
            "webhook-updated"]  # fmt: skip


STATES = ["a webhook", "a disabled webhook", "no webhook"]
LAST = CHANGING[-1]


@pytest.fixture(params=STATES)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with configured(request.param) as made:
        yield made


@contextmanager
def configured(state: str) -> Iterator[Client]:
    """A client of a service whose balance webhook is in a state."""
    with running({}) as made:
        if state != "no webhook":
            made.call("PUT", WEBHOOK, body={"url": "https://own.example/events"})
        if state == "a disabled webhook":
            made.call("PATCH", f"{WEBHOOK}/enabled", body={"enabled": False})
        yield made


def configuration(client: Client) -> tuple[Any, ...]:
    callback, webhook = client.call("GET", CALLBACK).json["data"], client.call("GET", WEBHOOK).json
    return callback["CallbackUrl"], callback["Method"], webhook["webhook_url"], webhook["enabled"]


def changes(request: Request) -> bool:
    return request.method != "GET" and request.path.startswith((CALLBACK, WEBHOOK))


def losing(number: int, *, is_answer: bool) -> Damage:
    """Lose two requests that change something, from this request on, or their answers."""
    count = 0

    def damage(send: Sender, request: Request) -> Answer:
        nonlocal count
        count += changes(request)
        if not changes(request) or count not in (number, number + 1):
            return send(request)
        if is_answer:
            send(request)
        raise NoAnswer("the connection was closed")

    return damage


@pytest.mark.parametrize(
    ("state", "check", "number", "is_answer"),
    [
        *(("a webhook", check, 1, True) for check in CHANGING),
        *((state, LAST, 2, True) for state in STATES),
        *(("a disabled webhook", LAST, number, False) for number in (1, 2, 3, 4)),
    ],
)
def test_changed_settings_are_restored_when_answers_are_lost(
    state: str, check: str, number: int, is_answer: bool
) -> None:
    with configured(state) as client:
        before = configuration(client)
        conformed(client, only={check}, damage=losing(number, is_answer=is_answer))
        assert configuration(client) == before


@pytest.mark.parametrize(
    ("state", "check", "number"),
    [
        *(("a webhook", check, 1) for check in CHANGING),
        *((state, LAST, 1) for state in STATES[1:]),
        *(("a disabled webhook", LAST, number) for number in (2, 3, 4, 5)),
    ],
)
def test_changed_settings_are_restored_when_a_signal_ends_the_run(state: str, check: str, number: int) -> None:
    with configured(state) as client:
        _stopped_at_a_change(client, check, number)


def _stopped_at_a_change(client: Client, check: str, number: int) -> None:
    before, count = configuration(client), 0

    def stopping(send: Sender, request: Request) -> Answer:
        nonlocal count
        answer = send(request)
        count += changes(request)
        if changes(request) and count == number:
            run.session.stop(15)
        return answer

    run = run_of(client, damage=stopping)
    with suppress(SystemExit):
        report(run, "x", {check})
        assert count < number
    assert configuration(client) == before


def test_a_setting_that_cannot_be_restored_is_a_note(client: Client) -> None:
    posts = 0

    def dead(send: Sender, request: Request) -> Answer:
        nonlocal posts
        posts += changes(request)
        if posts > 1:
            raise NoAnswer("the connection was closed")
        return send(request)

    (result,) = conformed(client, only={"callback-url-set"}, damage=dead).departed
    assert "could not be put back: the connection was closed" in result.notes[-1]
