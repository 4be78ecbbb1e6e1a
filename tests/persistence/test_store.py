"""Answers of commits, their order and thread, and the bounded log."""

import threading
from itertools import pairwise
from pathlib import Path

import pytest

from simulator.persistence.errors import StoreError, Unusable, WriteFailed
from simulator.persistence.maintenance import back_up
from simulator.persistence.store import Durability, Store
from simulator.persistence.writer import Retention
from tests.support.stores import LOG, VERSION, append, as_killed, fill, held

WAIT_S = 60.0


def opened(folder: Path, durability: Durability = "process", log_bytes: int = 1 << 24) -> Store:
    return Store(folder, durability, version=VERSION, log_bytes=log_bytes)


def test_under_process_a_commit_is_answered_at_once_in_the_thread_that_asks(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.writer.new_life("shop", b"")
        answers: list[tuple[int, StoreError | None]] = []
        store.request_commit(lambda error: answers.append((threading.get_ident(), error)))
        assert answers == [(threading.get_ident(), None)]
        assert list(held(store)) == ["shop"]


@pytest.mark.parametrize("durability", ["process", "power"])
def test_every_answered_request_survives_a_kill(tmp_path: Path, durability: Durability) -> None:
    with opened(tmp_path / "a", durability) as store:
        fill(store, "shop")
        wanted = held(store)
        append(store.writer, "shop", 0, b"not committed")
        copy = as_killed(tmp_path / "a", tmp_path / "b")
    with opened(copy, durability) as store:
        assert held(store) == wanted


def test_under_power_what_is_asked_for_during_a_commit_goes_together_in_order(tmp_path: Path) -> None:
    """The first answer holds the thread, as a slow disk would, until all others are asked for."""
    with opened(tmp_path, "power") as store:
        store.writer.new_life("shop", b"")
        is_held = threading.Event()
        is_asked = threading.Event()
        is_answered = threading.Event()
        answers: list[tuple[int, int]] = []

        def hold(_: StoreError | None) -> None:
            is_held.set()
            is_asked.wait(WAIT_S)

        store.request_commit(hold)
        assert is_held.wait(WAIT_S), "else the first of the others may go together with it"
        for number in range(1, 101):
            append(store.writer, "shop", number, b"")

            def done(error: StoreError | None, number: int = number) -> None:
                assert error is None
                answers.append((number, store.reader.life("shop").n))
                if number == 100:
                    is_answered.set()

            store.request_commit(done)
        is_asked.set()
        assert is_answered.wait(WAIT_S)
        assert [number for number, _ in answers] == list(range(1, 101))
        assert {n for _, n in answers} == {100}, "one commit for all of them"


def test_an_abandoned_commit_harms_no_other_commit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def gone(_: StoreError | None) -> None:
        raise RuntimeError("the event loop is closed")

    with opened(tmp_path, "power") as store:
        store.writer.new_life("shop", b"")
        store.request_commit(gone)
        store.commit()
        assert list(held(store)) == ["shop"]
    assert [record.getMessage() for record in caplog.records] == ["what waited for a commit failed"]


@pytest.mark.parametrize("durability", ["process", "power"])
def test_no_commit_happens_after_the_end(tmp_path: Path, durability: Durability) -> None:
    store = opened(tmp_path, durability)
    store.close()
    answers: list[StoreError | None] = []
    store.request_commit(answers.append)
    assert [type(answer) for answer in answers] == [WriteFailed]
    with pytest.raises(WriteFailed, match="the store is closed"):
        store.reader.lives()
    store.close()
    assert not (tmp_path / LOG).exists()


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["process", "power"])
def test_the_log_begins_again_however_fast_it_grows(tmp_path: Path, durability: Durability) -> None:
    """Each commit adds 40 kB to the log, unless it overwrites the log from its beginning."""
    sizes = [0]
    with opened(tmp_path, durability, log_bytes=400_000) as store:
        store.writer.new_life("shop", b"")
        while len(sizes) < 400 or (len(sizes) < 5_000 and all(one < other for one, other in pairwise(sizes))):
            append(store.writer, "shop", len(sizes), bytes(40_000))
            store.commit()
            sizes.append((tmp_path / LOG).stat().st_size)
        assert any(later <= earlier for earlier, later in pairwise(sizes))
        assert [n for n, *_ in store.reader.entries("shop")] == list(range(1, len(sizes)))


def test_queries_during_a_merge_of_the_log_are_answered_in_order(tmp_path: Path) -> None:
    answers: list[int] = []
    is_done = threading.Event()
    with opened(tmp_path, log_bytes=20_000) as store:
        store.writer.new_life("shop", b"")
        for number in range(1, 2001):
            append(store.writer, "shop", number, bytes(3_000))

            def done(error: StoreError | None, number: int = number) -> None:
                assert error is None
                answers.append(number)
                if number == 2000:
                    is_done.set()

            store.request_commit(done)
        assert is_done.wait(WAIT_S)
        assert answers == list(range(1, 2001))
        assert store.reader.life("shop").n == 2000


@pytest.mark.slow
def test_a_copy_is_made_while_the_store_runs(tmp_path: Path) -> None:
    keeps_all = Retention(snapshots=1000)
    with Store(tmp_path / "a", version=VERSION, retention=keeps_all, log_bytes=50_000) as store:
        fill(store, "shop", 300)
        copied: list[int] = []
        thread = threading.Thread(target=lambda: copied.append(back_up(tmp_path / "a", tmp_path / "b")))
        thread.start()
        fill(store, "till", 100)
        thread.join()
        wanted = held(store)
        with pytest.raises(Unusable, match="has files already"):
            back_up(tmp_path / "a", tmp_path / "b")
    with opened(tmp_path / "b") as store:
        found = held(store)
        assert found["shop"] == wanted["shop"]
        rest = found.get("till", {"entries": []})["entries"]
        assert rest == wanted["till"]["entries"][: len(rest)]
    assert copied[0] > 100_000
