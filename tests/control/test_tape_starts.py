"""A sandbox starts from a tape: at its end, at a mark, at a number or at a time."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.control import tape_endpoints
from tests.support.client import Client, Response, running
from tests.support.data_folders import killed, serving
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST, set_callback

TAPE = {"content-type": "application/octet-stream"}
SIGNED: dict[str, Any] = {
    "resellers": [
        {
            "code": "RS001",
            "balance": 100,
            "api_keys": [{"key": "rk_real", "secret": "c2VjcmV0LW9mLWEtcmVhbC1hY2NvdW50"}],
        }
    ]
}


def recorded(client: Client, query: str = "") -> bytes:
    """A tape of three payments, with a mark after the second one."""
    set_callback(client)
    client.pay("one")
    client.pay("two")
    assert client.sim("POST", "/sandboxes/default/marks", {"name": "noon"}).status == 201
    client.advance(30)
    client.pay("three")
    return client.sim("GET", f"/sandboxes/default/tape{query}").body


def begun(client: Client, tape: bytes, query: str = "id=day") -> Response:
    return client.send("POST", "/_sim/sandboxes", query, tape, TAPE)


def refids(client: Client, sandbox: str) -> list[str]:
    rows = client.sim("GET", f"/sandboxes/{sandbox}/transactions").json["transactions"]
    return sorted(row["refid"] for row in rows)


@pytest.fixture(scope="module")
def tape() -> bytes:
    with running(FIRST) as client:
        return recorded(client)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(FIRST, scenarios=tmp_path) as found:
        yield found


@pytest.mark.parametrize("member", [b'"seed": 5.0', b'"seed": 0e99', b'"quotas": {"transactions": 5.0, "bytes": 2e6}'])
def test_whole_numbers_in_any_writing_are_the_same_numbers_in_the_tape(client: Client, member: bytes) -> None:
    """A tape with a number that its head cannot have is not read again, nor is a data folder with it."""
    made = client.send("POST", "/_sim/sandboxes", "", b'{"id": "written", %b}' % member, {})
    assert made.status == 201
    assert type(made.json["seed"]) is int
    assert all(type(one) is int for one in made.json.get("quotas", {}).values())

    tape = client.sim("GET", "/sandboxes/written/tape").body

    assert begun(client, tape).json["seed"] == made.json["seed"]


@pytest.mark.parametrize(
    ("moment", "found"),
    {"": ["one", "three", "two"], "&mark=noon": ["one", "two"], "&n=0": [], "&n=3": ["one"]}.items(),
)
def test_a_sandbox_begins_at_a_moment_of_a_tape(client: Client, tape: bytes, moment: str, found: list[str]) -> None:
    assert begun(client, tape, f"id=day{moment}").status == 201
    assert refids(client, "day") == found
    assert client.pay("later", sandbox="day").status == 200
    assert client.sim("POST", "/sandboxes/day/clock/advance", {"seconds": 60}).status == 200
    assert refids(client, "default") == []
    assert_replays(client.app)


def test_a_sandbox_from_a_tape_has_its_marks_and_is_rewound_and_forked(client: Client, tape: bytes) -> None:
    assert begun(client, tape).status == 201
    assert [mark["name"] for mark in client.sim("GET", "/sandboxes/day/marks").json["marks"]] == ["noon"]
    client.pay("later", sandbox="day")
    assert client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "day"}}).status == 201
    assert client.sim("POST", "/sandboxes/day/rewind", {"mark": "noon"}).status == 200
    assert (refids(client, "day"), refids(client, "fork")) == (["one", "two"], ["later", "one", "three", "two"])


def test_a_tape_is_a_file_of_the_folder_of_scenarios(client: Client, tape: bytes, tmp_path: Path) -> None:
    (tmp_path / "day.tape").write_bytes(tape)
    wanted = {"id": "day", "tape": {"file": "day.tape", "mark": "noon"}}
    assert client.sim("POST", "/sandboxes", wanted).status == 201
    assert refids(client, "day") == ["one", "two"]


def test_the_key_of_a_tape_without_secrets_is_the_stand_in() -> None:
    with running(SIGNED) as client:
        client.key, client.secret = "rk_real", SIGNED["resellers"][0]["api_keys"][0]["secret"]
        tape = recorded(client)
        made = begun(client, tape).json
        own = made["resellers"][0]
        assert own["api_secret"] != client.secret
        answer = client.call("GET", "/v2/balance", sandbox="day", key=own["api_key"], secret=own["api_secret"])
        assert answer.status == 200
        assert client.sim("POST", "/sandboxes/day/rewind", {"mark": "noon"}).status == 200
        assert_replays(client.app)


def test_it_is_kept_in_a_data_folder(tape: bytes, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        assert begun(client, tape).status == 201
        client.pay("later", sandbox="day")
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert refids(client, "day") == ["later", "one", "three", "two"]
        assert client.sim("POST", "/sandboxes/day/rewind", {"mark": "noon"}).status == 200


REFUSED: dict[str, tuple[str, dict[str, Any], int, str, str]] = {
    "no such mark": ("&mark=night", {"mark": "night"}, 400, "unknown_moment", "it has noon"),
    "more entries": ("&n=99", {"n": 99}, 400, "unknown_moment", "N is from 0 to"),
    "two moments": ("&n=1&mark=noon", {"n": 1, "mark": "noon"}, 400, "bad_request", "give at most one of mark, to, n"),
    "another sandbox": ("&sandbox=x", {"sandbox": "x"}, 400, "bad_tape", "the file has no tape of x; it has default"),
    "another life": ("&life=2", {"life": 2}, 400, "bad_tape", "the file has 1 lives of default, but not life 2"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_moment_that_the_tape_lacks_is_refused(client: Client, tape: bytes, what: str, tmp_path: Path) -> None:
    query, members, status, code, text = REFUSED[what]
    (tmp_path / "day.tape").write_bytes(tape)
    by_file = client.sim("POST", "/sandboxes", {"id": "day", "tape": {"file": "day.tape", **members}})
    for refused in (begun(client, tape, f"id=day{query}"), by_file):
        assert (refused.status, refused.json["error"]) == (status, code)
        assert text in refused.json["message"]
    assert len(list(client.app.sandboxes)) == 1


@pytest.mark.parametrize("content", [b"", b"hello", b'{"tape":2}\n', b"\x1f\x8b broken"])
def test_an_invalid_tape_is_refused(client: Client, content: bytes) -> None:
    refused = begun(client, content)
    assert (refused.status, refused.json["error"]) == (400, "bad_tape")


def test_a_tape_that_takes_too_much_is_refused(client: Client, tape: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_endpoints, "READ_BYTES_MAX", 10_000)
    refused = begun(client, tape)
    assert (refused.status, refused.json["error"]) == (400, "bad_tape")
    assert "more than 10000 bytes of memory" in refused.json["message"]


def test_a_sandbox_begins_no_earlier_than_at_the_last_entry_of_its_tape(client: Client, tape: bytes) -> None:
    lines = gzip.decompress(tape).splitlines(keepends=True)
    end = json.loads(lines[-1])
    begun(client, tape, "id=whole")
    begun(client, b"".join([*lines[:-1], json.dumps(end | {"now": "2000-01-01T00:00:00Z"}).encode()]))
    whole, day = (client.sim("GET", f"/sandboxes/{each}/clock").json["now"] for each in ("whole", "day"))
    assert day == whole


def test_a_tape_that_this_version_answers_otherwise_is_refused(client: Client, tape: bytes) -> None:
    changed = b'"status":201'.join(gzip.decompress(tape).rsplit(b'"status":200', 1))
    refused = begun(client, changed)
    assert (refused.status, refused.json["error"]) == (409, "not_repeatable")
    assert "recorded it" in refused.json["message"]


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ({"tape": {"file": "../day.tape"}}, "tape.file"),
        ({"tape": {"file": "day.yaml"}}, "tape.file"),
        ({"tape": {"file": "none.tape"}}, "tape.file"),
        ({"tape": {"file": "none.tape"}, "seed": 1}, "seed"),
        ({"tape": {}}, "tape.file"),
        ({"tape": {"file": "x.tape", "marks": "x"}}, "tape.marks"),
    ],
)
def test_a_file_outside_the_folder_is_refused(client: Client, wanted: dict[str, Any], path: str) -> None:
    refused = client.sim("POST", "/sandboxes", wanted)
    assert (refused.status, refused.json["path"]) == (400, path)


def test_without_a_folder_there_are_no_files(tape: bytes) -> None:
    with running(FIRST) as client:
        refused = client.sim("POST", "/sandboxes", {"tape": {"file": "day.tape"}})
        assert (refused.status, refused.json["error"]) == (400, "no_scenarios_folder")
