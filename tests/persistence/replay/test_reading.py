"""Files that are no tape, or damaged ones, are refused with a sentence that says where and why."""

import gzip
import json
from pathlib import Path

import pytest

from simulator.persistence.replay.codec import BadTape
from simulator.persistence.replay.tape_reader import read_file, read_tapes
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from tests.support.client import running


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    with running() as client:
        for number in range(3):
            client.pay(f"r{number}")
        client.advance()
        return list(tape_lines(take_tape(client.live)))


NO_TAPES = {
    "text": (b"hello\n", "line 1 is not the beginning of a tape"),
    "another JSON": (b'{"log": {}}\n', "line 1 is not the beginning of a tape"),
    "a list": (b"[]\n", "line 1 is not the beginning of a tape"),
    "no UTF-8": (b"\xff\xfe\n", "line 1 is not the beginning of a tape"),
    "a newer tape": (b'{"tape":2}\n', "line 1: the tape has version 2, and this reseller-sim reads up to 1; replay"),
    "a head without a scenario": (b'{"tape":1}\n', r"line 1 cannot be understood \(Object missing required field"),
}


@pytest.mark.parametrize("what", NO_TAPES)
def test_a_file_that_is_no_tape_is_refused(what: str, tmp_path: Path) -> None:
    content, text = NO_TAPES[what]
    for written in (content, content[:-1], gzip.compress(content), gzip.compress(content[:-1])):
        file = tmp_path / "file"
        file.write_bytes(written)
        with pytest.raises(BadTape, match=text):
            list(read_file(file))


DAMAGES = {
    "no JSON": (b"{\n", "line 3 cannot be understood (Input data was truncated"),
    "an unknown entry": (b'{"entry":"magic"}\n', "line 3 cannot be understood (Invalid value 'magic'"),
    "a request without a time": (
        b'{"entry":"request"}\n',
        "line 3 cannot be understood (Object missing required field",
    ),
    "a time without a zone": (
        b'{"entry":"inbox_cleared","now":"yesterday","name":"x"}\n',
        "line 3 cannot be understood (Invalid RFC3339 encoded datetime",
    ),
    "a command that does not exist": (
        b'{"entry":"command","now":"2026-11-21T00:00:00Z","command":{"command":"Rob"}}\n',
        "line 3 cannot be understood (Invalid value 'Rob'",
    ),
    "a resumed request that never came": (
        b'{"entry":"resumed","request":9,"now":"2026-11-21T00:00:00Z","wall":"2026-11-21T00:00:00Z"}\n',
        "line 3 cannot be understood (entry 9 is no request that waits",
    ),
    "no Base64": (
        b'{"entry":"inbox_message","now":"2026-11-21T00:00:00Z","wall":"2026-11-21T00:00:00Z","name":"x",'
        b'"method":"POST","body":{"base64":"!"}}\n',
        "line 3 cannot be understood (",
    ),
    "deep nesting": (
        b'{"entry":"inbox_replies","now":"2026-11-21T00:00:00Z","name":"x","document":' + b'{"a":' * 100_000 + b"\n",
        "line 3 cannot be understood (",
    ),
    "another end than there is": (
        b'{"end":1,"left_out":0,"ended":"burnt"}\n',
        "line 3 cannot be understood (Invalid enum value 'burnt'",
    ),
    "another number at the end": (
        b'{"end":7,"left_out":0}\n',
        "line 3 says that there are 7 entries before it, and 1 are there",
    ),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_line_ends_the_tape_and_says_why(what: str, lines: list[bytes]) -> None:
    damaged, text = DAMAGES[what]
    (tape,) = read_tapes([*lines[:2], damaged, *lines[3:]])
    assert tape.damage.startswith(text), tape.damage
    assert len(tape.entries) == 1
    assert not tape.is_cut


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_file_that_was_cut_is_read_as_far_as_it_goes(share: float, tmp_path: Path) -> None:
    with running() as client:
        for number in range(400):
            client.pay(f"r{number}", remarks=f"{number}" * 20)
        whole = b"".join(packed(tape_lines(take_tape(client.live))))
    file = tmp_path / "cut.tape"
    file.write_bytes(whole[: int(len(whole) * share)])
    (tape,) = read_file(file)
    assert tape.damage.startswith(f"the file ends too early, after entry {len(tape.entries)} of 800")
    assert tape.is_cut
    assert 0 < len(tape.entries) < 800
    assert tape.end is None


def test_lines_that_end_between_two_entries_are_missed(lines: list[bytes]) -> None:
    (tape,) = read_tapes(lines[:-1])
    assert tape.damage == f"the file ends too early, after entry {len(lines) - 2} of {len(lines) - 2}"


def test_a_file_has_several_tapes_and_may_be_unpacked(lines: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "two.tape"
    for content in (b"".join(packed(lines)) * 2, b"".join(lines) * 2, gzip.compress(b"".join(lines) * 2)):
        file.write_bytes(content)
        first, second = read_file(file)
        assert len(first.entries) == len(second.entries) == len(lines) - 2
        assert not first.damage + second.damage


def test_equal_tapes_are_equal_bytes(lines: list[bytes]) -> None:
    assert list(packed(lines)) == list(packed(lines))
    end = json.loads(lines[-1])
    assert (end["end"], end["left_out"], end["due"]) == (len(lines) - 2, 0, [])
    assert end["now"] >= json.loads(lines[-2])["now"]
