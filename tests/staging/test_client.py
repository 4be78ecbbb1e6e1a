"""The client of a deployment: its pace, its bounds, its patience, and what it never does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from simulator.staging.client import Answer, Client, Manners, MustWait, Spent, retry_after
from simulator.staging.manners import NoAnswer
from simulator.staging.signing import Credentials
from tests.support.receivers import Receiver, Reset, refused_url

CREDENTIALS = Credentials("key_of_mine", "c2VjcmV0LW9mLW1pbmU=")
Result = TypeVar("Result")


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


def response(status: int, *headers: str, body: bytes = b"{}") -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def talk(
    receiver: Receiver,
    use: Callable[[Client], Awaitable[Result]],
    manners: Manners | None = None,
    time: Time | None = None,
) -> Result:
    async def run() -> Result:
        await receiver.start()
        time_ = time or Time()
        try:
            base_url = receiver.url.removesuffix("/hook")
            async with Client(base_url, CREDENTIALS, manners, clock=time_, sleep=time_.sleep) as client:
                return await use(client)
        finally:
            await receiver.stop()

    return asyncio.run(run())


def get(target: str = "/v2/balance") -> Callable[[Client], Awaitable[Answer]]:
    return lambda client: client.get(target)


def test_a_request_is_signed_and_has_its_target_unchanged() -> None:
    receiver = Receiver([response(200, "X-Some: thing", body=b'{"data":1}')])
    answer = talk(receiver, get("/v2/options?product_code=A%20B&field_id=x%2Fy"))
    (got,) = receiver.got
    assert (answer.status, answer.body, answer.headers["x-some"]) == (200, b'{"data":1}', "thing")
    assert got.target == "/v2/options?product_code=A%20B&field_id=x%2Fy"
    assert got.headers["x-api-key"] == CREDENTIALS.key
    assert got.headers["x-signature"].startswith("v1=")


def test_requests_go_at_their_pace() -> None:
    time = Time()

    async def thrice(client: Client) -> None:
        for _ in range(3):
            await client.get("/v2/balance")

    talk(Receiver(), thrice, Manners(per_second=4), time)
    assert time.slept == [0.25, 0.25]


def test_no_more_requests_are_sent_than_allowed_those_that_are_repeated_included() -> None:
    receiver = Receiver([response(429)])
    with pytest.raises(Spent, match="2 requests have been sent"):
        talk(receiver, get(), Manners(requests_max=2))
    assert len(receiver.got) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_that_the_service_asks_for_is_made_and_the_next_request_has_a_new_nonce(status: int) -> None:
    receiver, time = Receiver([response(status, "Retry-After: 17"), response(200)]), Time()
    assert talk(receiver, get(), time=time).status == 200
    assert time.slept == [17.0]
    assert len({got.headers["x-nonce"] for got in receiver.got}) == 2


def test_without_a_retry_after_each_pause_is_longer_and_the_last_refusal_is_the_answer() -> None:
    receiver, time = Receiver([response(429)]), Time()
    assert talk(receiver, get(), time=time).status == 429
    assert time.slept == [1.0, 2.0, 4.0, 8.0]


def test_a_pause_that_is_too_long_ends_it_and_says_how_long() -> None:
    with pytest.raises(MustWait) as wrong:
        talk(Receiver([response(429, "Retry-After: 3600")]), get())
    assert wrong.value.seconds == 3600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("Thu, 01 Jan 1970 00:03:20 GMT", 100.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_a_retry_after_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    assert retry_after(Answer(429, {"retry-after": text}, b""), now=100.0) == seconds


def test_no_redirect_is_followed_and_no_cookie_kept() -> None:
    receiver = Receiver([response(302, "Location: /elsewhere", "Set-Cookie: a=b"), response(200)])

    async def twice(client: Client) -> int:
        first = await client.get("/v2/balance")
        await client.get("/v2/balance")
        return first.status

    assert talk(receiver, twice) == 302
    assert [got.target for got in receiver.got] == ["/v2/balance", "/v2/balance"]
    assert "cookie" not in receiver.got[1].headers


def test_a_body_that_is_too_long_is_not_read_to_its_end() -> None:
    with pytest.raises(NoAnswer, match="more than 10 bytes"):
        talk(Receiver([response(200, body=b"x" * 11)]), get(), Manners(body_bytes_max=10))
    assert talk(Receiver([response(200, body=b"x" * 10)]), get(), Manners(body_bytes_max=10)).body == b"x" * 10


@pytest.mark.slow
def test_an_answer_that_does_not_end_is_given_up_as_a_whole() -> None:
    """A slow drip as well: the time is that of the exchange, not of each read."""
    with pytest.raises(NoAnswer, match=r"within 0\.2 seconds"):
        talk(Receiver([None]), get(), Manners(timeout_s=0.2))


@pytest.mark.parametrize("answer", [b"", Reset(b""), b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{", b"hello\r\n\r\n"])
def test_an_answer_that_breaks_off_is_none(answer: bytes) -> None:
    with pytest.raises(NoAnswer, match="no complete answer") as wrong:
        talk(Receiver([answer]), get())
    assert "\n" not in str(wrong.value)


def test_where_nobody_listens_there_is_no_answer() -> None:
    async def run() -> None:
        with refused_url() as url:
            async with Client(url.removesuffix("/hook"), CREDENTIALS) as client:
                await client.get("/v2/balance")

    with pytest.raises(NoAnswer):
        asyncio.run(run())


def test_headers_are_added_and_the_same_request_can_be_sent_twice() -> None:
    receiver = Receiver()

    async def twice(client: Client) -> None:
        request = client.signed("GET", "/v2/catalog")
        await client.send(request, {"X-API-Version": "2026-09-16"})
        await client.send(request)

    talk(receiver, twice)
    first, second = (got.headers for got in receiver.got)
    assert first["x-api-version"] == "2026-09-16"
    assert "x-api-version" not in second
    assert first["x-nonce"] == second["x-nonce"]
