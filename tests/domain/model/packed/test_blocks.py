"""Rows in a block, and logs of blocks: any row is found, and what is damaged is refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.packed.blocks import SIZE, Block
from simulator.domain.model.packed.log import LATEST_MIN, READ_MAX, PackedLog


@given(st.lists(st.tuples(st.binary(max_size=300), st.text(st.characters(codec="utf-8"), max_size=9)), max_size=40))
def test_a_block_has_its_rows_and_its_columns(pairs: list[tuple[bytes, str]]) -> None:
    rows, texts = [row for row, _ in pairs], [text for _, text in pairs]
    block = Block(Block.of(rows, [texts, texts[::-1]]).content)
    assert (len(block), list(block)) == (len(rows), rows)
    assert [block[place] for place in range(len(rows))] == rows
    assert block.columns(msgspec.msgpack.Decoder()) == [texts, texts[::-1]]


@given(st.lists(st.binary(max_size=9), max_size=5), st.data())
def test_a_block_of_which_one_byte_is_another_is_refused(rows: list[bytes], data: st.DataObject) -> None:
    content = Block.of(rows).content
    at = data.draw(st.integers(0, len(content) - 1))
    other = bytes([content[at] ^ data.draw(st.integers(1, 255))])
    for damaged in (content[:at] + other + content[at + 1 :], content[:at], content + b"\0"):
        with pytest.raises(ValueError, match="block of rows"):
            Block(damaged)


def filled(count: int) -> tuple[PackedLog[str], list[str]]:
    log: PackedLog[str] = PackedLog(str.encode, bytes.decode)
    for number in range(count):
        log.append(f"r{number}")
    return log, [f"r{number}" for number in range(count)]


@pytest.mark.parametrize(
    "count", [0, 1, SIZE, LATEST_MIN + SIZE - 1, LATEST_MIN + SIZE, LATEST_MIN + SIZE + 1, LATEST_MIN + 3 * SIZE + 7]
)
def test_a_log_is_a_sequence_like_any_other(count: int) -> None:
    log, records = filled(count)
    assert (len(log), list(log), list(reversed(log))) == (count, records, records[::-1])
    places = (0, 1, SIZE - 1, SIZE, count // 2, count - SIZE, count - 1, count, -1, -count, -count - 1)
    for place in places:
        if -count <= place < count:
            assert log[place] == records[place]
        else:
            with pytest.raises(IndexError):
                log[place]
    for begin in places:
        for end in places:
            assert log[begin:end] == records[begin:end]
            assert log[begin:end:-3] == records[begin:end:-3]


@pytest.mark.parametrize("count", [0, 1, SIZE, LATEST_MIN + SIZE, LATEST_MIN + 3 * SIZE + 5])
def test_a_log_is_restored_from_its_blocks_and_goes_on(count: int) -> None:
    log, records = filled(count)
    again: PackedLog[str] = PackedLog(str.encode, bytes.decode)
    for content in log.contents():
        again.restore(content)
    assert list(again) == records
    for number in range(count, count + LATEST_MIN + 3 * SIZE):
        log.append(f"r{number}")
        again.append(f"r{number}")
        assert (again[number], again[count // 2]) == (log[number], log[count // 2])
    assert list(again) == list(log)
    assert list(again.contents()) == list(log.contents())


def test_blocks_that_are_packed_are_the_same_objects_each_time() -> None:
    log, _ = filled(LATEST_MIN + 2 * SIZE + 3)
    before = list(log.contents())
    log.append("one more")
    after = list(log.contents())
    assert [one is other for one, other in zip(before, after, strict=True)] == [True] * 2 + [False] * 5


def test_a_log_has_no_block_behind_one_that_is_not_whole() -> None:
    log, _ = filled(3)
    with pytest.raises(ValueError, match="not whole"):
        log.restore(Block.of([b"r3"]).content)
    with pytest.raises(ValueError, match="not whole"):
        PackedLog(str.encode, bytes.decode).restore(Block.of([]).content)


def test_records_that_are_packed_are_unpacked_once_for_who_reads_them_again() -> None:
    unpacked: list[bytes] = []

    def unpack(row: bytes) -> str:
        unpacked.append(row)
        return row.decode()

    log: PackedLog[str] = PackedLog(str.encode, unpack)
    for number in range(2 * LATEST_MIN + READ_MAX):
        log.append(f"r{number}")
    for _ in range(3):
        assert [log[place] for place in range(READ_MAX)] == [f"r{place}" for place in range(READ_MAX)]
    assert len(unpacked) == READ_MAX
    assert log[READ_MAX] == f"r{READ_MAX}"
    assert len(log._read) == 1, "as many as were read before are let go of"
