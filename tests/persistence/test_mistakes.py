"""A request that met a mistake of the simulator changes nothing of what a folder restores."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.api import authentication, payment_endpoints, pipeline
from simulator.persistence.maintenance import check
from tests.support.client import Client
from tests.support.data_folders import killed, serving, told
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST

BODY = {"refid": "failed", "product": "RELOAD", "account": "0123456789", "amount": 10}


def fails(*_: Any, **__: Any) -> None:
    raise KeyError("a mistake")


async def comes_at_once() -> None:
    return None


async def fails_at_the_body() -> None:
    raise OSError("a mistake")


def before_it_changed_anything(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(payment_endpoints, "CreatePayment", fails)
    return client.call("POST", "/v2/topup", BODY).status


def after_it_paid(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(payment_endpoints.payment_answers, "answer", fails)  # type: ignore[attr-defined]
    return client.call("POST", "/v2/topup", BODY).status


def while_it_waited(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    return client.run(client.acall("POST", "/v2/topup", BODY, before_body=fails_at_the_body)).status


def at_its_admission(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(pipeline, "CountRequest", fails)
    return client.run(client.acall("POST", "/v2/topup", BODY, before_body=comes_at_once)).status


def at_the_check_of_its_headers(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(authentication, "check_headers", fails)
    return client.run(client.acall("POST", "/v2/topup", BODY, before_body=comes_at_once)).status


def at_the_check_of_its_signature(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(authentication, "verify", fails)
    return client.call("GET", "/v2/balance").status


MISTAKES = (
    before_it_changed_anything,
    after_it_paid,
    while_it_waited,
    at_its_admission,
    at_the_check_of_its_headers,
    at_the_check_of_its_signature,
)


@pytest.mark.parametrize("is_delayed", [False, True])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_folder_opens_after_a_request_that_waited_failed_unexpectedly(
    mistake: Callable[[Client, pytest.MonkeyPatch], int],
    is_delayed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "1ms"}}
    with serving(tmp_path / "data", FIRST | {"faults": [slow] if is_delayed else []}) as client:
        client.pay("before")
        with monkeypatch.context() as planted:
            planted.setattr("tests.support.client.assert_in_contract", lambda *_: None)
            assert mistake(client, planted) == 500
        client.pay("after")
        balance = client.call("GET", "/v2/balance").body
        assert_replays(client.app)
        before = told(client)
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert told(client) == before
        assert client.call("GET", "/v2/balance").body == balance
