"""The memory of inboxes: strangers fill it, and it stays within the budgets of the sandbox and of the server."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from simulator.domain.errors import Conflict
from simulator.domain.model.inbox_programs import InboxProgram, InboxReply
from simulator.domain.model.resellers import SecretLog
from simulator.domain.model.scenario import Limits
from simulator.persistence.tape.entries import InboxReceived
from simulator.runtime.inbox_messages import MESSAGE_BYTES, NAME_BYTES
from simulator.runtime.inboxes import Inboxes, server_budget

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOUND = 1024 * 1024


def inboxes(server: Any = None, **limits: int) -> Inboxes:
    bounds = Limits(**limits)  # type: ignore[arg-type]  # int limits only
    return Inboxes(bounds, server or server_budget(), NOW, SecretLog())


def replying(*replies: InboxReply) -> InboxProgram:
    return InboxProgram(replies)


def post(to: Inboxes, name: str, body: bytes = b"", query: bytes = b"", headers: int = 0) -> int:
    """Post to an inbox; every text is an object of its own, as the ones from a socket are."""
    sent = [(b"x-%d" % number, b"v" * 20 + b"%d" % number) for number in range(headers)]
    now = datetime.now(UTC)
    came = InboxReceived(now, now, name, "POST", bytes(bytearray(query)), tuple(sent), bytes(bytearray(body)))
    return to.receive(came).status


FLOODS: dict[str, Callable[[Inboxes, int], Any]] = {
    "names": lambda to, turn: post(to, f"n{turn}"),
    "long names": lambda to, turn: post(to, f"{turn:064}"),
    "headers": lambda to, turn: post(to, "one", headers=90),
    "queries": lambda to, turn: post(to, "one", query=b"q" * 5_000),
    "bodies": lambda to, turn: post(to, f"n{turn % 7}", b"b" * 100_000),
    "bodies beyond the budget": lambda to, turn: post(to, f"n{turn % 7}", b"b" * (BOUND + turn)),
    "small ones": lambda to, turn: post(to, "one"),
    "small ones of many names": lambda to, turn: post(to, f"n{turn % 200}", b"b"),
    "growing ones": lambda to, turn: post(to, f"n{turn % 20}", b"b" * turn, headers=turn % 90),
}


@pytest.mark.slow
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_no_flood_takes_more_memory_than_the_budget_says(flood: Callable[[Inboxes, int], Any]) -> None:
    full = inboxes(inboxes=20_000, inboxes_bytes=BOUND)
    flood(full, 0)
    gc.collect()
    tracemalloc.start()
    for turn in range(3000):
        flood(full, turn)
        assert full.budget.bytes <= BOUND
    gc.collect()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert allocated <= BOUND


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_budget_ends_where_it_began(flood: Callable[[Inboxes, int], Any]) -> None:
    server = server_budget()
    full = inboxes(server, inboxes=50, inboxes_bytes=BOUND)
    for turn in range(500):
        flood(full, turn)
    for name in full.counts():
        full.forget(name)
    assert (full.budget.bytes, full.budget.names, server.bytes, server.names) == (0, 0, 0, 0)


def test_the_oldest_messages_are_evicted_first_from_every_inbox() -> None:
    room_for_three = 3 * (MESSAGE_BYTES + len("POST") + 100) + 2 * NAME_BYTES
    full = inboxes(inboxes_bytes=room_for_three)
    for name in ("a", "b", "b", "a", "b"):
        post(full, name, b"x" * 100)
    assert full.counts() == {"a": 1, "b": 2}
    assert [(one, full.peek(one).left_out) for one in "ab"] == [("a", 1), ("b", 1)]


def test_the_bounds_of_each_inbox_apply_beside_the_budget() -> None:
    full = inboxes(inbox=3, inbox_bytes=10_000)
    for _ in range(5):
        post(full, "many")
        post(full, "large", b"x" * 4_000)
    assert full.counts() == {"many": 3, "large": 2}
    assert (full.peek("many").left_out, full.peek("large").left_out) == (2, 3)
    post(full, "large", b"x" * 10_001)
    assert "large" not in full.counts()
    assert full.peek("large").left_out == 6


def test_a_fully_evicted_inbox_reports_its_loss_and_continues_its_numbers() -> None:
    full = inboxes(inboxes=2)
    for name in ("first", "first", "second", "third"):
        post(full, name)
    assert full.counts() == {"second": 1, "third": 1}
    assert full.peek("first").left_out == 2
    post(full, "first")
    first = full.peek("first")
    assert ([one.n for one in first.received], first.left_out) == ([3], 2)
    assert full.peek("third").left_out == 0


def test_the_least_recently_used_of_too_many_names_is_evicted() -> None:
    full = inboxes(inboxes=3)
    for name in ("a", "b", "c", "a", "d"):
        post(full, name)
    assert full.counts() == {"a": 2, "c": 1, "d": 1}


def test_no_number_of_names_displaces_replies_that_were_set() -> None:
    full = inboxes(inboxes=10)
    full.set_program("mine", replying(InboxReply(500), InboxReply(503), InboxReply(404)))
    assert post(full, "mine") == 500
    for turn in range(1000):
        assert post(full, f"n{turn}", b"b" * 1000) == 200
    assert (post(full, "mine"), post(full, "mine"), post(full, "mine")) == (503, 404, 404)
    assert full.budget.names == 10
    assert full.counts()["mine"] == 4


def test_no_number_of_bytes_displaces_replies_that_were_set() -> None:
    full = inboxes(inboxes_bytes=1024)
    full.follow({"mine": replying(InboxReply(500), InboxReply(404))})
    for _ in range(10):
        post(full, "other", b"b" * 5000)
    assert (post(full, "mine", b"b" * 5000), post(full, "mine")) == (500, 404)


def test_replies_that_are_taken_back_leave_nothing() -> None:
    full = inboxes()
    full.set_program("mine", replying(InboxReply(500)))
    full.set_program("mine", replying())
    full.follow({"theirs": replying(InboxReply(500))})
    full.follow({}, before={"theirs": replying(InboxReply(500))})
    assert full.counts() == {}
    assert post(full, "mine") == 200


def test_replies_are_set_for_as_many_inboxes_as_there_may_be_and_strangers_come_beside_them() -> None:
    full = inboxes(inboxes=3)
    for name in "abc":
        full.set_program(name, replying(InboxReply(500)))
    full.set_program("a", replying(InboxReply(501)))
    with pytest.raises(Conflict):
        full.set_program("d", replying(InboxReply(500)))
    assert post(full, "d") == 200
    assert full.counts() == {"a": 0, "b": 0, "c": 0, "d": 1}


def test_the_replies_of_all_inboxes_take_no_more_memory_than_the_budget_says() -> None:
    full = inboxes(inboxes_bytes=BOUND)
    gc.collect()
    tracemalloc.start()
    refused = []
    for turn in range(300):
        replies = [InboxReply(500, body="ä" * turn * 20, headers=((f"X-{turn}", f"{turn}"),)) for _ in range(turn % 4)]
        try:
            full.set_program(f"n{turn}", replying(*replies))
        except Conflict as conflict:
            refused.append(conflict.code)
    gc.collect()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    names = len(full.counts())
    assert allocated <= BOUND + names * NAME_BYTES
    assert len(refused) > 20
    assert set(refused) == {"too_many_replies"}
    full.set_program("n299", replying())
    full.forget("n3")
    full.set_program("small", replying(InboxReply(500)))


def test_the_server_has_a_single_budget_for_the_bytes_of_all_sandboxes() -> None:
    server = server_budget()
    server.bytes_max = BOUND
    boxes = [inboxes(server) for _ in range(30)]
    for turn in range(300):
        post(boxes[turn % 30], f"n{turn % 4}", b"b" * 50_000)
        assert sum(box.budget.bytes for box in boxes) == server.bytes <= BOUND
    assert [bool(box.counts()) for box in boxes] == [False] * 11 + [True] * 19
    assert boxes[0].peek("n0").left_out == 10


def test_the_oldest_messages_of_all_sandboxes_are_evicted_first() -> None:
    server = server_budget()
    server.bytes_max = 300 * (MESSAGE_BYTES + NAME_BYTES + len("POST"))
    boxes = [inboxes(server) for _ in range(3)]
    for turn in range(1000):
        post(boxes[turn % 3], f"n{turn}")
    kept = [int(name[1:]) for box in boxes for name in box.counts()]
    assert sorted(kept) == list(range(700, 1000))


def test_the_server_has_a_single_budget_for_the_names_of_all_sandboxes() -> None:
    server = server_budget()
    server.names_max = 5
    first, second = inboxes(server), inboxes(server)
    for turn in range(4):
        post(first, f"n{turn}")
        post(second, f"n{turn}")
    assert (list(first.counts()), list(second.counts())) == (["n2", "n3"], ["n1", "n2", "n3"])


def test_a_sandbox_that_ends_gives_its_share_back_and_keeps_nothing_more() -> None:
    server = server_budget()
    ending, other = inboxes(server), inboxes(server)
    for name in ("a", "b"):
        post(ending, name)
        post(other, name)
    ending.close()
    ending.close()
    assert server.bytes == other.budget.bytes
    assert post(ending, "a") == 200
    assert (ending.counts(), server.bytes, server.names) == ({}, other.budget.bytes, 2)


def test_an_awaited_inbox_stays_while_messages_arrive_at_others() -> None:
    async def main() -> None:
        full = inboxes(inboxes=2, inboxes_bytes=20_000)
        waits = [asyncio.create_task(full.wait(name, 1, 0, 30)) for name in ("a", "b", "c")]
        await asyncio.sleep(0)
        for turn in range(20):
            post(full, f"n{turn}", b"b" * 500)
        assert set(full.counts()) == {"a", "b", "c"}
        for name in ("a", "b", "c"):
            post(full, name)
        found = await asyncio.wait_for(asyncio.gather(*waits), 60)
        assert [(inbox.name, len(inbox.received), complete) for inbox, complete in found] == [
            ("a", 1, True), ("b", 1, True), ("c", 1, True)
        ]  # fmt: skip

    asyncio.run(main())


def test_messages_that_are_evicted_during_a_wait_count() -> None:
    async def main() -> None:
        full = inboxes(inbox=2)
        post(full, "a")
        waits = [
            asyncio.create_task(full.wait("a", count_min, after, 30)) for count_min, after in ((5, 0), (4, 1), (2, 3))
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            post(full, "a")
        assert not any(waiting.done() for waiting in waits)
        post(full, "a")
        found = await asyncio.wait_for(asyncio.gather(*waits), 60)
        assert [(len(inbox.received), complete) for inbox, complete in found] == [(2, True)] * 3

    asyncio.run(main())


def test_a_timed_out_wait_leaves_no_state() -> None:
    server = server_budget()
    full = inboxes(server)
    _, complete = asyncio.run(full.wait("a", 1, 0, 0))
    assert (complete, full.counts(), server.names) == (False, {}, 0)


def test_a_client_that_waits_for_an_inbox_that_ends_is_woken() -> None:
    async def main(end: Callable[[Inboxes], None]) -> tuple[bool, bool]:
        full = inboxes()
        waiting = asyncio.create_task(full.wait("a", 1, 0, 30))
        await asyncio.sleep(0)
        assert full.has_waiters
        end(full)
        _, complete = await asyncio.wait_for(waiting, 60)
        _, after = await asyncio.wait_for(full.wait("a", 1, 0, 0), 60)
        return complete, after

    assert asyncio.run(main(lambda full: full.forget("a"))) == (False, False)
    assert asyncio.run(main(lambda full: full.close())) == (False, False)


def test_a_page_begins_after_a_number() -> None:
    full = inboxes(inbox=3)
    for _ in range(5):
        post(full, "a")
    inbox = full.peek("a")
    after = {n: [one.n for one in inbox.after(n)] for n in (0, 2, 3, 4, 5, 99)}
    assert after == {0: [3, 4, 5], 2: [3, 4, 5], 3: [4, 5], 4: [5], 5: [], 99: []}
    assert {n: inbox.count_after(n) for n in after} == {n: len(numbers) for n, numbers in after.items()}
