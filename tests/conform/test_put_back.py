"""What `conform` changes of the configuration is put back, whatever happens to requests and answers."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from simulator.conform.run import report
from simulator.conform.service import Answer, Request
from simulator.upstream.manners import NoAnswer
from tests.support.client import Client, running
from tests.support.conforming import Damage, Sender, conformed, run_of

CALLBACK, WEBHOOK = "/v2/callback-url", "/v2/balance-webhook"
CHANGING = ["callback-url-set", "webhook-create", "webhook-update", "webhook-enabled", "webhook-url-refused",
            "webhook-updated"]  # fmt: skip


@pytest.fixture(params=["a webhook", "a disabled webhook", "no webhook"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with running({}) as made:
        if request.param != "no webhook":
            made.call("PUT", WEBHOOK, body={"url": "https://own.example/events"})
        if request.param == "a disabled webhook":
            made.call("PATCH", f"{WEBHOOK}/enabled", body={"enabled": False})
        yield made


def configuration(client: Client) -> tuple[Any, ...]:
    callback, webhook = client.call("GET", CALLBACK).json["data"], client.call("GET", WEBHOOK).json
    return callback["CallbackUrl"], callback["Method"], webhook["webhook_url"], webhook["enabled"]


def changes(request: Request) -> bool:
    return request.method != "GET" and request.path.startswith((CALLBACK, WEBHOOK))


def losing(number: int, *, is_answer: bool) -> Damage:
    """Lose two requests that change something, from this one on, or their answers."""
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


@pytest.mark.slow
@pytest.mark.parametrize("check", CHANGING)
@pytest.mark.parametrize("is_answer", [True, False])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_what_was_changed_is_put_back_when_answers_are_lost(
    check: str, is_answer: bool, number: int, client: Client
) -> None:
    before = configuration(client)
    conformed(client, only={check}, damage=losing(number, is_answer=is_answer))
    assert configuration(client) == before


@pytest.mark.slow
@pytest.mark.parametrize("check", CHANGING)
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_what_was_changed_is_put_back_when_a_signal_ends_the_run(check: str, number: int, client: Client) -> None:
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


def test_what_cannot_be_put_back_is_a_note(client: Client) -> None:
    posts = 0

    def dead(send: Sender, request: Request) -> Answer:
        nonlocal posts
        posts += changes(request)
        if posts > 1:
            raise NoAnswer("the connection was closed")
        return send(request)

    (result,) = conformed(client, only={"callback-url-set"}, damage=dead).departed
    assert "could not be put back: the connection was closed" in result.notes[-1]
