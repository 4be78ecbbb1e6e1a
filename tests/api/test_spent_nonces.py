"""A nonce that was spent: the refusal names the request that spent it, and why the client may have sent it again."""

import asyncio
import gzip
import json
from base64 import b64encode
from datetime import datetime
from typing import Any

import pytest

from simulator.domain.model.money import SERVICE_ZONE
from tests.support.client import Client, Response, running

NONCE = "n" * 16
ORDER = b'{"refid":"r-1","product":"RELOAD","account":"0123456789","amount":10}'


def pay(client: Client, body: bytes = ORDER) -> Response:
    return client.call("POST", "/v2/topup", body, nonce=NONCE)


def said_of_second(scenario: dict[str, Any], body: bytes = ORDER) -> str:
    with running(scenario) as client:
        pay(client)
        answer = pay(client, body)
        assert (answer.status, answer.json["error"]) == (401, "nonce_reused")
        [spent] = [one for one in client.sim("GET", "/sandboxes/default/requests").json["requests"] if one["n"] == 1]
        said = answer.headers["x-sim-diagnosis"]
        at = datetime.fromisoformat(spent["at"]).astimezone(SERVICE_ZONE)
        assert f"request 1 spent this nonce at {at:%Y-%m-%d %H:%M:%S}." in said
        assert "+08:00; " in said
        assert "each request needs a nonce of its own" in said
        return said


@pytest.mark.parametrize("where", [True, "body"])
def test_a_library_that_repeats_after_a_lost_answer_is_named(where: bool | str) -> None:
    fault = {"when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, "disconnect": where}}
    said = said_of_second({"faults": [fault]})
    assert said.startswith("the answer to these very bytes was lost, and your HTTP library, as Java's")


def test_a_repetition_of_a_request_in_progress_is_named() -> None:
    fault = {"when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, "hold": "answers"}}
    with running({"faults": [fault]}) as client:

        async def pay_twice() -> str:
            first = asyncio.ensure_future(client.acall("POST", "/v2/topup", ORDER, nonce=NONCE))
            await client.asim("GET", "/sandboxes/default/holds?name=answers&wait_for=1&timeout=30")
            again = await client.acall("POST", "/v2/topup", ORDER, nonce=NONCE)
            await client.asim("POST", "/sandboxes/default/holds/answers/release", {})
            assert (await first).status == 200
            return again.headers["x-sim-diagnosis"]

        said = client.run(pay_twice())
        assert said.startswith("these very bytes are still being answered: your HTTP library or your own retry")
        assert "a request that is still being answered spent this nonce at " in said
        assert client.live.unanswered == []


def test_identical_bytes_after_an_answer_count_as_sent_twice() -> None:
    assert said_of_second({}).startswith("these very bytes were sent before; make a nonce")


def test_other_bytes_with_the_nonce_are_no_repetition() -> None:
    assert said_of_second({}, ORDER.replace(b"r-1", b"r-2")).startswith("request 1 spent this nonce")


def test_a_nonce_is_refused_after_the_journal_evicted_its_request() -> None:
    with running() as client:
        pay(client)
        client.live.journal.clear()
        assert pay(client).headers["x-sim-diagnosis"].startswith("each request needs a nonce of its own")


@pytest.mark.parametrize(
    ("body", "headers", "said"),
    [
        (gzip.compress(ORDER, mtime=0), {}, "is compressed; the service does not support Content-Encoding"),
        (b"\x0b\x02\x80", {"Content-Encoding": "br"}, "the service does not support Content-Encoding"),
        (ORDER.decode().encode("utf-16"), {}, "is in UTF-16; send it in UTF-8"),
        (json.dumps(ORDER.decode()).encode(), {}, "is a JSON string that has the JSON in it: serialise it once"),
        (str(json.loads(ORDER)).encode(), {}, "as Python prints a dict; send the text of json.dumps"),
        (b"[object Object]", {}, "[object Object]; send the text of JSON.stringify"),
        (b64encode(ORDER), {}, "is Base64; send the JSON itself"),
    ],
)
def test_a_body_that_is_signed_and_cannot_be_read_is_named(body: bytes, headers: dict[str, str], said: str) -> None:
    with running() as client:
        answer = client.call("POST", "/v2/topup", body, headers=headers)
        assert answer.status == 400
        assert said in answer.headers["x-sim-diagnosis"]
