"""How much of a log stays objects: the latest 1,024 records, and 1,024 of those that were read."""

import pytest

from simulator.domain.model.packed.log import PackedLog


class Unpacking:
    """A log of so many records, and how many of them were unpacked."""

    def __init__(self, count: int) -> None:
        self.count = 0
        self.log: PackedLog[str] = PackedLog(str.encode, self._unpack)
        for number in range(count):
            self.log.append(f"r{number}")

    def _unpack(self, row: bytes) -> str:
        self.count += 1
        return row.decode()


@pytest.mark.parametrize(("count", "packed"), [(1_024, 0), (1_279, 0), (1_280, 256), (1_535, 256), (1_536, 512)])
def test_at_least_the_latest_1024_records_stay_objects(count: int, packed: int) -> None:
    log = PackedLog[str](str.encode, bytes.decode)
    for number in range(count):
        log.append(f"r{number}")
    assert len(list(log.sealed())) * 256 == packed
    unpacking = Unpacking(count)
    assert unpacking.log[packed:] == [f"r{number}" for number in range(packed, count)]
    assert unpacking.count == 0
    assert unpacking.log[:packed] == [f"r{number}" for number in range(packed)]
    assert unpacking.count == packed


def test_1024_records_that_were_read_are_not_unpacked_again() -> None:
    unpacking = Unpacking(2_560)
    for _ in range(2):
        assert [unpacking.log[place] for place in range(1_024)] == [f"r{number}" for number in range(1_024)]
    assert unpacking.count == 1_024
    assert [unpacking.log[1_024], unpacking.log[0]] == ["r1024", "r0"]
    assert unpacking.count == 1_026, "one more lets go of all of them"


def test_a_slice_that_begins_in_what_is_packed_and_ends_behind_it_is_whole() -> None:
    log = Unpacking(1_300).log
    assert log[250:260] == [f"r{number}" for number in range(250, 260)]
    assert log[260:250] == log[1_300:] == []
    assert log[-1_044:-1_042] == ["r256", "r257"]
