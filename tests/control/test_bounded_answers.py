"""The cost of an answer of the control API is bounded, however large the exchanges are that it shows."""

import asyncio
from collections.abc import Iterable

import pytest

from simulator.control.http import PAGE_BYTES_MAX, SLICE_ROWS
from simulator.redaction import BODY_BYTES_MAX, CUT_CHARS_MIN, MASKED, Mask, Secrets
from tests.support.client import Client, Response, running

LARGE = 9_900_000


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each search for secrets looked at."""
    sizes: list[int] = []
    find = Secrets.spans

    def counted(self: Secrets, text: bytes) -> Iterable[tuple[int, int]]:
        sizes.append(len(text))
        return find(self, text)

    monkeypatch.setattr(Secrets, "spans", counted)
    return sizes


@pytest.mark.parametrize("piece", [b"a", b'"', b"%41", b"\\u0041", b"\\/", b"\xff", "é".encode(), b"[", b"eyJ"])
@pytest.mark.parametrize("path", ["/v2/topup", "/v2/token"])
def test_a_large_body_is_cut_before_it_is_decoded_and_searched(piece: bytes, path: str, searched: list[int]) -> None:
    body = piece * (LARGE // len(piece))
    shown = Mask([Secrets(["a secret of somebody"])]).body(path, body)
    assert len(shown) < BODY_BYTES_MAX + 100
    assert shown.endswith(f"... (the beginning of {len(body)} bytes)")
    assert sum(searched) <= 4 * BODY_BYTES_MAX


def test_a_large_exchange_is_shown_in_part_with_its_length(searched: list[int]) -> None:
    with running() as client:
        client.call("POST", "/v2/topup", b'{"refid": "%b"}' % (b"x" * LARGE))
        searched.clear()
        shown = client.sim("GET", "/sandboxes/default/requests/1").json["request"]
        assert sum(searched) <= 5 * BODY_BYTES_MAX, "two bodies, and once more in the answer"
        assert shown["body_bytes"] == LARGE + 13
        assert shown["body"].startswith('{"refid": "xxx')
        assert shown["body"].endswith("... (the beginning of 9900013 bytes)")


def test_a_token_request_that_is_too_long_to_be_read_is_not_shown() -> None:
    body = b'{"username": "ann", "password": "%b"}' % (b"p" * BODY_BYTES_MAX)
    assert Mask().body("/v2/token", body) == f"{MASKED}... (the beginning of {len(body)} bytes)"


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_secret_at_the_cut_is_not_shown_in_part(shift: int) -> None:
    secret = "s3cr3t-of-somebody-that-is-long-enough"
    body = b"-" * (BODY_BYTES_MAX - shift) + secret.encode() + b"-" * 100
    shown = Mask([Secrets([secret])]).body("/v2/topup", body)
    assert secret[:CUT_CHARS_MIN] not in shown
    assert shown.startswith("-" * (BODY_BYTES_MAX - shift))


def test_a_character_at_the_cut_is_not_broken() -> None:
    for shift in range(4):
        body = b"-" * shift + "😀".encode() * (BODY_BYTES_MAX // 2)
        assert "\ufffd" not in Mask().body("/v2/topup", body)


def test_a_body_within_the_bound_is_shown_whole() -> None:
    body = b"x" * BODY_BYTES_MAX
    assert Mask().body("/v2/topup", body) == body.decode()


def test_a_page_is_bounded_by_its_bytes_and_leaves_no_row_out(searched: list[int]) -> None:
    with running() as client:
        for n in range(100):
            client.send("GET", f"/v2/{n}{'x' * 30_000}")
        numbers: list[int] = []
        cursor = "0"
        while cursor is not None:
            searched.clear()
            shown = client.sim("GET", f"/sandboxes/default/requests?limit=1000&cursor={cursor}")
            assert len(shown.body) < PAGE_BYTES_MAX + 200_000
            assert sum(searched) < 4 * PAGE_BYTES_MAX
            numbers += [one["n"] for one in shown.json["requests"]]
            cursor = shown.json["cursor"]
            assert shown.json["has_more"] is (cursor is not None)
        assert numbers == list(range(100, 0, -1))


@pytest.mark.parametrize("query", ["a=%41%42&" * 100, "token=secret&" * 60, "x" * 900, "%22%5C" * 150])
def test_a_page_and_its_mask_are_built_in_small_parts_between_other_work(query: str, searched: list[int]) -> None:
    async def most_in_a_turn(client: Client, path: str) -> tuple[Response, int]:
        searched.clear()
        asking = asyncio.create_task(client.asim("GET", path))
        most = seen = 0
        while not asking.done():
            await asyncio.sleep(0)
            most, seen = max(most, sum(searched) - seen), sum(searched)
        return await asking, most

    with running() as client:
        for _ in range(400):
            client.send("GET", f"/v2/x?{query}")
        answer, most = client.run(most_in_a_turn(client, "/sandboxes/default/requests?limit=1000"))
        assert len(answer.json["requests"]) == 400
        assert sum(searched) > 400_000
        assert most < 120_000


def test_the_story_of_a_payment_with_many_queries_is_made_in_small_parts(searched: list[int]) -> None:
    async def turns(client: Client, path: str) -> tuple[Response, int]:
        asking = asyncio.create_task(client.asim("GET", path))
        passed = 0
        while not asking.done():
            await asyncio.sleep(0)
            passed += 1
        return await asking, passed

    with running() as client:
        for _ in range(200):
            client.pay("again")
        [trxid] = client.live.core.state.transactions
        answer, passed = client.run(turns(client, f"/sandboxes/default/transactions/{trxid}"))
        assert (len(answer.json["requests"]), answer.json["requests_left_out"]) == (100, 100)
        assert passed > 100 / SLICE_ROWS


def test_a_secret_is_masked_in_every_row_of_a_long_page() -> None:
    secret = "c2VjcmV0LW9mLXNvbWVib2R5"
    with running({"resellers": [{"code": "RS001", "api_keys": [{"key": "k", "secret": secret}]}]}) as client:
        for _ in range(100):
            client.send("POST", "/_sim/inbox/default/a", "", f"it is {secret}".encode() + b"x" * 300)
        shown = client.sim("GET", "/sandboxes/default/inbox/a?limit=1000")
        assert len(shown.json["items"]) == 100
        assert shown.body.count(MASKED.encode()) == 100
        assert secret.encode() not in shown.body


def test_the_secrets_are_indexed_once_until_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[str] = []
    add = Secrets.add

    def counted(self: Secrets, secrets: Iterable[str]) -> None:
        several = list(secrets)
        added.extend(several)
        add(self, several)

    with running() as client:
        client.sim("GET", "/sandboxes/default/requests")
        monkeypatch.setattr(Secrets, "add", counted)
        for _ in range(3):
            client.sim("GET", "/sandboxes/default/requests")
            client.send("GET", "/v2/balance")
        assert added == []
        made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json["api_secret"]
        client.sim("GET", "/sandboxes/default/requests")
        assert made in added
