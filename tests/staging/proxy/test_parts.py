"""The parts of the proxy by themselves: addresses, what is kept, payments, and the file of a recording."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simulator.contract.responses import ContractDeparture
from simulator.staging.bodies import parameters
from simulator.staging.proxy.departures import (
    OUTLINE_BYTES_MAX,
    is_judged,
    members,
    records,
    result_of,
)
from simulator.staging.proxy.log import Payments, SeenCall, SeenDeparture, SeenLog, SeenNotification, seen_size
from simulator.staging.proxy.messages import BodyBudget, BufferedBody
from simulator.staging.proxy.recording import Recording, UnusableScenario
from simulator.staging.proxy.secrets import SeenSecrets
from simulator.staging.proxy.watcher import unpacked
from simulator.staging.signed_requests import CannotSign, parse_address
from simulator.wire.traffic import Call, Notification
from tests.support.broken_receivers import until
from tests.support.wall import START


@pytest.mark.parametrize(
    ("text", "authority", "url"),
    [
        ("https://staging.example.com", "staging.example.com", "https://staging.example.com"),
        ("https://staging.example.com:443/", "staging.example.com", "https://staging.example.com"),
        ("http://10.0.0.1:8080/s/mine/", "10.0.0.1:8080", "http://10.0.0.1:8080/s/mine"),
        ("http://[::1]:81", "[::1]:81", "http://[::1]:81"),
    ],
)
def test_an_address_gives_host_and_base(text: str, authority: str, url: str) -> None:
    address = parse_address(text)
    assert (address.authority, address.url) == (authority, url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "staging.example.com",
        "ftp://host",
        "http://",
        "http://user:hush@host",
        "http://host?a=1",
        "http://host/#a",
        "http://host:0",
        "http://host:99999",
        "http://ho st/",
        "http://[::1",
        "http://hôst/",
    ],
)
def test_an_invalid_address_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(CannotSign) as refused:
        parse_address(text)
    assert "hush" not in str(refused.value)


def test_a_body_above_the_limit_is_let_go_and_counted() -> None:
    budget = BodyBudget()
    kept = BufferedBody(budget, 10)
    for piece in (b"12345", b"67890"):
        kept.add(piece)
    assert (kept.body, kept.is_whole, budget.used) == (b"1234567890", True, 10)
    kept.add(b"x")
    assert (kept.body, kept.is_whole, kept.total, budget.used) == (b"", False, 11, 0)


def test_all_bodies_in_flight_share_one_budget() -> None:
    budget = BodyBudget(8)
    first, second = BufferedBody(budget), BufferedBody(budget)
    first.add(b"12345")
    second.add(b"12345")
    assert (first.is_whole, second.is_whole, budget.used) == (True, False, 5)
    first.release()
    third = BufferedBody(budget)
    third.add(b"12345678")
    assert third.is_whole


def call(n: int, refid: str, trxid: str = "", path: str = "/v2/topup", answer: bytes = b"") -> Call:
    at = START + timedelta(seconds=n)
    return Call(n=n, at=at, method="POST", path=path, status=200, answer=answer, refid=refid, trxid=trxid)


def test_the_oldest_payments_are_forgotten_with_their_trxids() -> None:
    payments = Payments(2)
    for n, refid in enumerate(("a", "b", "c"), 1):
        payments.note_call(call(n, refid, f"T{n}"), {})
    assert [one.refid for one in payments.newest_first()] == ["c", "b"]
    assert (payments.find("T1"), payments.find("a"), payments.left_out) == (None, None, 1)
    found = payments.find("T3")
    assert found is not None
    assert found.refid == "c"


def test_a_story_keeps_the_latest_calls_and_counts_the_others() -> None:
    payments = Payments()
    for n in range(1, 251):
        payments.note_call(call(n, "a"), {"status": "Processing", "statusCode": n % 2})
    (one,) = payments.newest_first()
    assert (len(one.calls), one.calls_left_out, one.calls[-1], len(one.statuses)) == (100, 150, 250, 100)


def test_a_status_is_noted_once_however_often_it_is_asked_for() -> None:
    payments = Payments()
    for n, code in enumerate((1, 1, 2, 2, 20, 20), 1):
        payments.note_call(call(n, "a"), {"status": f"S{code}", "statusCode": code})
    history = b'{"data":[{"refid":"a","trxid":"T","status_name":"Successful","status_code":"20"},{"refid":7},3]}'
    payments.note_history(call(7, "", path="/v2/transactions"), records(history))
    (one,) = payments.newest_first()
    assert [(each.status, each.n) for each in one.statuses] == [("S1", 1), ("S2", 3), ("S20", 5)]
    assert one.trxid == "T"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'{"data":[]}', b'{"data":{"status":7}}', b"[" * 100_000])
def test_an_answer_that_is_no_payment_result_is_ignored(body: bytes) -> None:
    assert result_of(body) == {}


def test_a_body_with_too_much_in_it_is_not_decoded() -> None:
    assert not is_judged(b'{"text":"' + b"a" * (1024 * 1024) + b'"}')
    many = b'{"a":[' + b"[]," * (OUTLINE_BYTES_MAX // 3) + b"[]]}"
    assert (is_judged(many), members(many)) == (False, {})
    text = b'{"a":"' + b"a" * (1000 * 1024) + b'"}'
    assert (is_judged(text), len(members(text)["a"])) == (True, 1000 * 1024)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_packed_body_is_unpacked_up_to_a_limit(pack: Callable[[bytes], bytes]) -> None:
    headers = ((b"Content-Encoding", b"gzip" if pack is gzip.compress else b"deflate"),)
    small, bomb = pack(b"{}" * 50), pack(b"[]," * 6_000_000)
    assert unpacked(headers, small) == b"{}" * 50
    assert [unpacked(headers, body) for body in (bomb, small[2:], small[:-2], 2 * small)] == [None] * 4
    assert unpacked(((b"Content-Encoding", b"br"),), small) is None
    assert unpacked((), bomb) == bomb


def test_a_query_of_too_many_parameters_is_not_read() -> None:
    assert parameters(b"a=1&" * 10_000) == {}


LARGE = 60_000
TEXT = "ab" * (LARGE // 2)
FIELDS = ((b"X-A", b"b" * LARGE),)
LARGEST = [
    *({name: TEXT} for name in ("path", "diagnosis", "refid", "trxid")),
    *({name: FIELDS} for name in ("headers", "answer_headers")),
    *({name: TEXT.encode()} for name in ("query", "body", "answer")),
    {"path": "\N{PILE OF POO}" * (LARGE // 4)},
    {"headers": ((b"a", b"b"),) * 100},
]


def seen_call(departures: tuple[ContractDeparture, ...] = (), **parts: Any) -> SeenCall:
    made = msgspec.structs.replace(call(1, "a"), **parts)
    return SeenCall(call=made, client="", status=200, error="", departures=departures, body_bytes=0, answer_bytes=0)


@pytest.mark.parametrize("parts", LARGEST, ids=lambda parts: next(iter(parts)))
def test_large_parts_of_a_call_are_counted_in_the_log_and_for_a_recording(parts: dict[str, Any]) -> None:
    added = 10_000 if "headers" in parts and len(parts["headers"]) == 100 else LARGE
    assert seen_call(**parts).size - seen_call().size >= added - 200
    assert seen_size(seen_call(**parts).call) - seen_size(seen_call().call) >= added - 200


@pytest.mark.parametrize(
    "parts",
    [{"url": TEXT}, {"answer_headers": FIELDS}, {"headers": FIELDS}, {"error": TEXT}, {"body": TEXT.encode()}],
    ids=lambda parts: next(iter(parts)),
)
def test_large_parts_of_a_notification_are_counted(parts: dict[str, Any]) -> None:
    def size(**parts: Any) -> int:
        made = msgspec.structs.replace(CALLED_BACK, **parts)
        return SeenNotification(notification=made, departures=(), signature="", reported="", status=200).size

    assert size(**parts) - size() >= LARGE - 200


def test_departures_are_counted_with_what_they_are_about() -> None:
    found = ContractDeparture("f" * 300, "e" * 300, "a" * 300)
    assert seen_call((found,) * 50).size - seen_call().size >= 50 * 900
    assert SeenDeparture(at=START, operation=TEXT, departure=found).size >= LARGE + 900


def test_the_log_takes_no_more_memory_than_it_counts() -> None:
    log = SeenLog(bytes_max=4 * 1024 * 1024)
    tracemalloc.start()
    try:
        for n in range(400):
            fields = ((b"X-A", bytes([n % 256]) * LARGE),)
            log.add_call(seen_call(path=f"/{n}" + TEXT, answer_headers=fields, diagnosis=f"{n}" + TEXT))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 6 * 1024 * 1024  # some is beside the log, and departures have a share of their own
    assert log.calls.left_out > 300


class Counted:
    """A recorder that writes how many calls it received."""

    def __init__(self, said: str = "", *, is_broken: bool = False) -> None:
        self.calls = self.notifications = 0
        self._said = said
        self._is_broken = is_broken

    def note_call(self, call: Call) -> None:
        self.calls += 1

    def note_notification(self, one: Notification) -> None:
        self.notifications += 1

    def scenario_text(self) -> str:
        if self._is_broken:
            raise KeyError("hush")
        return f"calls: {self.calls}\nnotifications: {self.notifications}\n{self._said}"


def write(path: Path, text: str) -> None:
    path.write_text(text)


CALLED_BACK = Notification(n=1, at=START, kind="callback", method="POST", url="http://x/")


def test_a_recording_is_written_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "seen.yaml"

    async def main() -> None:
        written: asyncio.Queue[str] = asyncio.Queue()
        recording = Recording(Counted(), path, SeenSecrets(), write, written.put_nowait, every_s=0.01)
        recording.start()
        recording.note(call(1, "a"))
        await until(lambda: path.exists() and path.read_text() != "")
        assert path.read_text() == "calls: 1\nnotifications: 0\n"
        recording.note(CALLED_BACK)
        await recording.end()
        assert path.read_text() == "calls: 1\nnotifications: 1\n"
        assert written.empty()

    asyncio.run(main())
    assert [each.name for each in tmp_path.iterdir()] == ["seen.yaml"]


class Echo(Counted):
    """A recorder that writes its calls."""

    def note_call(self, call: Call) -> None:
        self._said += f"{call.query.decode()} {call.body.decode()} {call.answer.decode()}\n"

    def note_notification(self, one: Notification) -> None:
        self._said += f"{one.url} {one.body.decode()}\n"


def recorded(secrets: list[str], *traffic: Call | Notification) -> str:
    """What reaches a recorder."""
    texts: list[str] = []

    async def main() -> None:
        recording = Recording(Echo(), Path("x"), SeenSecrets(secrets), lambda _, text: texts.append(text), print)
        for one in traffic:
            recording.note(one)
        await recording.end()

    asyncio.run(main())
    return texts[0]


def test_a_recorder_receives_no_secret() -> None:
    secret = "a-secret/that was+given"
    told = recorded(
        [secret],
        Call(n=1, at=START, method="POST", path="/", status=200, query=b"a=1&b=a-secret%2fthat+was%2bgiven&c&d="),
        Call(
            n=2,
            at=START,
            method="POST",
            path="/",
            status=200,
            body=b'{"a": "a-secret\\/that was\\u002bgiven", "n":1.0}',
        ),
        Call(n=3, at=START, method="POST", path="/", status=200, answer=b'{"a-secret/that was+given": 1, "b": "\\q"}'),
        Notification(
            n=1,
            at=START,
            kind="callback",
            method="GET",
            url="http://x/?message=%7B%22r%22:%22a-secret%2Fthat%20was%2Bgiven%22%7D",
        ),
    )
    assert "that" not in told
    assert (told.count("(not shown)"), told.count("not%20shown")) == (2, 2)
    assert "a=1&b=(not%20shown)&c&d=" in told
    assert '{"a": "(not shown)", "n":1.0}' in told


def test_a_password_that_is_a_word_or_a_number_hides_nothing_else() -> None:
    body = b'{"product":"RELOADING","status":"Processing","account":"0123456789","remarks":"no 0123456789 here"}'
    told = recorded(["RELOADING", "Processing", "0123456789"], Call(n=1, at=START, method="POST", path="/", body=body))
    assert body.decode() in told


def test_a_recording_that_is_no_scenario_leaves_the_last_one_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []

    def refuses(path: Path, text: str) -> None:
        raise UnusableScenario("payments[0] unknown_key no")

    asyncio.run(Recording(Counted(), tmp_path / "x", SeenSecrets(), refuses, said.append).end())
    assert said == [f"{tmp_path / 'x'} was not written, it would be no usable scenario: payments[0] unknown_key no"]


@pytest.mark.parametrize(
    ("recorder", "folder", "words"),
    [
        (Counted(), "nowhere", "cannot be written: No such file"),
        (Counted(is_broken=True), "", "was not written: KeyError in"),
    ],
)
def test_a_recording_that_fails_says_so_and_nothing_else_does(
    recorder: Counted, folder: str, words: str, tmp_path: Path
) -> None:
    said: list[str] = []

    async def main() -> None:
        await Recording(recorder, tmp_path / folder / "seen.yaml", SeenSecrets(), write, said.append).end()

    asyncio.run(main())
    (line,) = said
    assert words in line
    assert "hush" not in line


@pytest.mark.slow
def test_secrets_are_kept_within_bounds_of_count_length_and_sum() -> None:
    secrets = SeenSecrets()
    for n in range(200):
        secrets.learn("/v2/token", json.dumps({"password": f"{n:08}-" + "p" * 60_000}).encode(), b"")
    kept = [text for index in secrets.secrets for text in index.known]
    assert max(map(len, kept)) == 4096
    for n in range(3000):
        secrets.learn("/v2/token", json.dumps({"password": f"{n:08}=" + "p" * 5000}).encode(), b"")
    kept = [text for index in secrets.secrets for text in index.known]
    assert sum(map(len, kept)) <= 2 * (4 * 1024 * 1024 + 4096)
    assert secrets.mask.text(f"{2999:08}=" + "p" * 100) == "(not shown)"


@pytest.mark.slow
def test_a_repeated_password_evicts_no_other_secret() -> None:
    secrets = SeenSecrets()
    secrets.learn("/v2/balance-webhook", b"", b'{"webhook_secret":"whsec_of-the-webhook"}')
    for _ in range(3000):
        secrets.learn("/v2/token", json.dumps({"password": "q" * 4096}).encode(), b"")
    assert secrets.mask.text("whsec_of-the-webhook") == "(not shown)"
    assert list(secrets.webhooks) == ["whsec_of-the-webhook"]
