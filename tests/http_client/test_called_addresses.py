"""The sender connects only to checked addresses, however they are spelt or resolved."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from simulator.domain.model.delivery_attempts import AttemptEnd
from simulator.http_client.lookup import MAX_LOOKUPS, system_lookup
from tests.support.broken_receivers import (
    OK,
    RUNNERS,
    Receiver,
    Run,
    post,
    says,
    sender,
    silent,
    until,
)

pytestmark = pytest.mark.parametrize("run", RUNNERS)

CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
METADATA_HOSTS = [
    "169.254.169.254",
    "169.254.169.254.",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "168.63.129.16",
    "192.0.0.192",
    "0xa83f8110",
    "[fe80::1]",
    "[::ffff:0:a9fe:a9fe]",
    "[fd00:ec2::254]",
    "[::ffff:169.254.169.254]",
    "[2002:a9fe:a9fe::]",
    "[64:ff9b::a9fe:a9fe]",
]


class Zone:
    """A name server: what it answers in turn, then the last repeats, and what it was asked."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.mark.parametrize("host", METADATA_HOSTS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_metadata_address_is_blocked_in_every_spelling(run: Run, host: str, scheme: str) -> None:
    async def main() -> None:
        async with sender(lookup=Zone(["127.0.0.1"])) as http:
            outcome = await http.send(post(f"{scheme}://{host}/latest/meta-data?token=hunter2"), 5.0)
            assert outcome.kind is AttemptEnd.BLOCKED
            assert "metadata" in outcome.error or "embeds an IPv4 address" in outcome.error
            assert "hunter2" not in outcome.error

    run(main())


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "0.0.0.0", "localhost", "private.test"])
def test_only_public_addresses_are_called_when_that_is_wanted(run: Run, host: str) -> None:
    def lookup(name: str) -> Sequence[str]:
        return ["192.168.1.1"] if name == "private.test" else system_lookup(name)

    async def main() -> None:
        async with sender(public_only=True, lookup=lookup) as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(post(f"http://{host}:{receiver.port}/"), 5.0)
            assert outcome.kind is AttemptEnd.BLOCKED
            assert outcome.error.endswith(": `--callbacks any` of the server allows it")
            assert receiver.connections == 0

    run(main())


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "localhost", "LOCALHOST"])
def test_this_machine_may_be_called_in_every_spelling(run: Run, host: str) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(post(f"http://{host}:{receiver.port}/"), 5.0)
            assert (outcome.kind, outcome.status) == (AttemptEnd.ANSWERED, 200)

    run(main())


def test_a_receiver_may_be_called_by_ipv6(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK), host="::1") as receiver:
            for url in (f"http://[::1]:{receiver.port}/", f"http://[0:0::1]:{receiver.port}/"):
                assert (await http.send(post(url), 5.0)).status == 200
            assert receiver.requests[0].head[1] == f"Host: [::1]:{receiver.port}"

    run(main())


def test_a_name_that_turns_to_a_metadata_address_is_blocked_on_the_next_connection(run: Run) -> None:
    async def main() -> None:
        zone = Zone(["127.0.0.1"], ["169.254.169.254"])
        async with sender(lookup=zone) as http, Receiver(says(CLOSING)) as receiver:
            url = f"http://rebinding.test:{receiver.port}/"
            assert (await http.send(post(url), 5.0)).status == 200
            assert zone.asked == ["rebinding.test"], "one lookup serves both the check and the connection"
            assert (await http.send(post(url), 5.0)).kind is AttemptEnd.BLOCKED
            assert (zone.asked, receiver.connections) == (["rebinding.test"] * 2, 1)

    run(main())


@pytest.mark.parametrize("addresses", [["127.0.0.1", "169.254.169.254"], ["fe80::1%1", "127.0.0.1"]])
def test_a_name_with_one_refused_address_is_blocked_whole(run: Run, addresses: list[str]) -> None:
    async def main() -> None:
        async with sender(lookup=Zone(addresses)) as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(post(f"http://mixed.test:{receiver.port}/"), 5.0)
            assert outcome.kind is AttemptEnd.BLOCKED
            assert receiver.connections == 0

    run(main())


def test_the_second_address_is_called_when_the_first_does_not_answer(run: Run) -> None:
    async def main() -> None:
        async with sender(lookup=Zone(["127.0.0.2", "127.0.0.1"])) as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(post(f"http://two.test:{receiver.port}/"), 5.0)
            assert outcome.status == 200
            assert f"Host: two.test:{receiver.port}" in receiver.requests[0].head

    run(main())


@pytest.mark.parametrize("host", ["nothing.invalid", "a.b.c.invalid."])
def test_a_name_that_does_not_exist_is_a_dns_failure(run: Run, host: str) -> None:
    async def main() -> None:
        async with sender() as http:
            outcome = await http.send(post(f"http://{host}/?token=hunter2"), 5.0)
            assert outcome.kind is AttemptEnd.DNS
            assert outcome.error.startswith(f"the name {host} does not resolve")
            assert "hunter2" not in outcome.error

    run(main())


def test_a_name_without_an_address_is_a_dns_failure(run: Run) -> None:
    async def main() -> None:
        async with sender(lookup=Zone([])) as http:
            assert (await http.send(post("http://empty.test/"), 5.0)).kind is AttemptEnd.DNS

    run(main())


def test_lookups_that_hang_hold_up_neither_other_names_nor_the_end(run: Run) -> None:
    release = threading.Event()
    asked: list[str] = []
    was_released: list[bool] = []

    def lookup(host: str) -> Sequence[str]:
        asked.append(host)
        if host != "good.test":
            was_released.append(release.wait(60))
        return ["127.0.0.1"]

    async def main() -> None:
        async with sender(lookup=lookup) as http, Receiver(says(OK)) as receiver:
            names = [f"hanging{number}.test" for number in range(2 * MAX_LOOKUPS)] + ["hanging0.test"] * 20
            hanging = [asyncio.ensure_future(http.send(post(f"http://{name}/"), 0.5, "one")) for name in names]
            await until(lambda: len(asked) == MAX_LOOKUPS // 2)
            good = await http.send(post(f"http://good.test:{receiver.port}/"), 5.0, "another")
            assert good.status == 200
            outcomes = await asyncio.gather(*hanging)
            assert {outcome.kind for outcome in outcomes} == {AttemptEnd.TIMEOUT}
            assert asked.count("hanging0.test") == 1, "concurrent callers of a name share its lookup"

    try:
        run(main())
        assert was_released == [], "no caller waited for the end of a hanging lookup"
    finally:
        release.set()


def test_more_names_than_are_looked_up_at_once_wait_for_their_turn(run: Run) -> None:
    may_end = threading.Event()
    asked: list[str] = []

    def lookup(host: str) -> Sequence[str]:
        asked.append(host)
        may_end.wait(60)
        return ["127.0.0.1"]

    async def main() -> None:
        async with sender(lookup=lookup) as http, Receiver(says(OK)) as receiver:
            urls = [f"http://name{number}.test:{receiver.port}/" for number in range(2 * MAX_LOOKUPS)] * 2
            attempts = [asyncio.ensure_future(http.send(post(url), 60.0, "one")) for url in urls]
            await until(lambda: len(asked) == MAX_LOOKUPS // 2)
            may_end.set()
            assert {end.status for end in await asyncio.gather(*attempts)} == {200}
            assert len(set(asked)) == 2 * MAX_LOOKUPS

    run(main())


@pytest.mark.parametrize(
    "url", ["inbox:callbacks", "ftp://127.0.0.1/", "http://user:hunter2@127.0.0.1/", "nonsense", ""]
)
def test_a_target_that_is_not_an_http_address_is_blocked(run: Run, url: str) -> None:
    async def main() -> None:
        async with sender() as http:
            outcome = await http.send(post(url), 5.0)
            assert outcome.kind is AttemptEnd.BLOCKED
            assert outcome.error
            assert "hunter2" not in outcome.error

    run(main())


def test_proxies_of_the_environment_are_not_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Receiver(silent) as proxy, sender() as http, Receiver(says(OK)) as receiver:
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
            assert (await http.send(post(receiver.url), 5.0)).status == 200
            assert proxy.connections == 0

    run(main())
