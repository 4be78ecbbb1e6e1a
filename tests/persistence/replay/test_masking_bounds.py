"""Masking a tape takes time that grows with the tape alone, in slices."""

import asyncio
import json
from collections.abc import Iterable

import pytest

from simulator.persistence.replay.tape_redaction import lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.redaction import Secrets
from simulator.runtime.background import in_background
from tests.support.client import Client, running

TAPE = "/sandboxes/default/tape"
RESELLER = {"code": "RS001", "balance": 10, "users": [{"username": "ann", "password": "a-password-of-ann"}]}


def addresses(client: Client, count: int) -> None:
    urls = [f"http://user:password-{n:06d}@host/?token=token-{n:06d}" for n in range(count)]
    client.call("POST", "/v2/topup", {"refid": "x", "urls": urls})
    for url in urls[:20]:
        client.call("GET", f"/v2/balance?next={url}")


@pytest.mark.parametrize("count", [100, 2_000])
def test_as_many_bytes_are_searched_as_the_tape_has(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    original = Secrets.spans

    def counted(self: Secrets, text: bytes) -> Iterable[tuple[int, int]]:
        searched.append(len(text))
        return original(self, text)

    monkeypatch.setattr(Secrets, "spans", counted)
    with running({"resellers": [RESELLER]}) as client:
        addresses(client, count)
        size = sum(map(len, tape_lines(take_tape(client.live))))
        searched.clear()
        assert b"password-0" not in b"".join(lines_without_secrets(take_tape(client.live), client.app.replayer))
        assert sum(searched) < 12 * size


@pytest.mark.parametrize("query", ["", "?secrets=shown"])
def test_others_have_their_turn_while_a_tape_is_made(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.control.tape_endpoints.SLICE_S", 0)
    with running({"resellers": [RESELLER]}) as client:
        addresses(client, 20)

        async def both() -> bool:
            making = asyncio.ensure_future(client.asim("GET", TAPE + query))
            for _ in range(3):
                await in_background(json.dumps, "done")
            was_done = making.done()
            assert (await making).status == 200
            return was_done

        assert client.run(both()) is False
