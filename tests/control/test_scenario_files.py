"""Sandboxes from one's own files: YAML as the body of the request, and files of the folder of `--scenarios`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.reading.scenario_files import LISTED_MAX, ScenarioFolder, Unreadable
from tests.support.bad_scenarios import HOSTILE, REFUSED
from tests.support.client import Client, Response, running

MINE = """\
scenario: mine
extends: default
seed: 5
clock: manual
payments:
  - { name: fails, then: [{ status: Failed }] }
"""
SECRET = "outside: 4711\n"
PRODUCT = "products: [{ code: Q, name: Q, processing_time: pin, discount: { type: fixed, value: 1 } }]\n"


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of scenarios with links of every kind, beside private files."""
    inside = tmp_path / "scenarios"
    (inside / "sub").mkdir(parents=True)
    (inside / "mine.yaml").write_text(MINE)
    (inside / "sub" / "deep.yaml").write_text("extends: ./base.yaml\nscenario: deep\n")
    (inside / "sub" / "base.yaml").write_text("extends: default\nseed: 6\nclock: manual\n")
    (inside / "notes.txt").write_text(SECRET)
    (inside / "within.yaml").symlink_to("sub/base.yaml")
    (tmp_path / "outside.yaml").write_text(SECRET)
    (tmp_path / "scenarios-too").mkdir()
    (tmp_path / "scenarios-too" / "x.yaml").write_text(SECRET)
    (inside / "out.yaml").symlink_to("../outside.yaml")
    (inside / "nowhere.yaml").symlink_to("../there-is-none.yaml")
    (inside / "way-out").symlink_to("..")
    (inside / "absolute.yaml").symlink_to(tmp_path / "outside.yaml")
    (inside / "hop.yaml").symlink_to("out.yaml")
    (inside / "loop.yaml").symlink_to("loop.yaml")
    (inside / "passwd.yaml").symlink_to("/etc/passwd")
    (inside / "zero.yaml").symlink_to("/dev/zero")
    (inside / "folder.yaml").mkdir()
    os.mkfifo(inside / "pipe.yaml")
    return inside


@pytest.fixture
def among(folder: Path) -> Iterator[Client]:
    """A client of a server with that folder."""
    with running(scenarios=folder) as made:
        yield made


def send(client: Client, text: str | bytes, query: str = "", content_type: str = "application/yaml") -> Response:
    body = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return client.send("POST", "/_sim/sandboxes", query, body, {"content-type": content_type})


def start(client: Client, name: Any, **beside: Any) -> Response:
    return client.sim("POST", "/sandboxes", {"scenario": {"file": name, **beside}})


def ids(client: Client) -> list[str]:
    return [one["id"] for one in client.sim("GET", "/sandboxes").json["sandboxes"]]


# The scenario as the body


@pytest.mark.parametrize(
    "content_type", ["application/yaml", "application/x-yaml", "text/yaml", "Application/YAML ; charset=utf-8"]
)
def test_a_scenario_file_is_the_body(client: Client, content_type: str) -> None:
    made = send(client, MINE, "id=own", content_type)
    assert made.status == 201, made.body
    assert (made.json["id"], made.json["scenario"], made.json["seed"]) == ("own", "mine", 5)
    assert client.pay(sandbox="own").data["status"] == "Failed"
    assert client.pay().data["status"] == "Accepted"


def test_the_query_sets_values_that_the_file_cannot_have(client: Client) -> None:
    made = send(client, MINE, "seed=9223372036854775807&credentials=unique").json
    assert made["seed"] == 2**63 - 1
    reseller = made["resellers"][0]
    assert reseller["api_key"] != client.key
    assert client.pay(key=reseller["api_key"], secret=reseller["api_secret"]).data["status"] == "Failed"


@pytest.mark.parametrize(
    ("query", "clock"),
    [
        ("", {"mode": "real", "rate": 1.0, "start": "2026-11-30T16:00"}),
        ("clock=manual", {"mode": "manual", "rate": 0.0, "start": "2026-11-30T16:00"}),
        ("clock=x60", {"mode": "xN", "rate": 60.0, "start": "2026-11-30T16:00"}),
        ("clock=x0.5&start=2027-01-01T00:00:00Z", {"mode": "xN", "rate": 0.5, "start": "2027-01-01T00:00"}),
        ("start=2027-01-01T00:00:00%2B08:00", {"mode": "real", "rate": 1.0, "start": "2026-12-31T16:00"}),
    ],
)
def test_the_query_has_another_clock_than_the_file(client: Client, query: str, clock: dict[str, Any]) -> None:
    made = send(client, "extends: default\nclock: { mode: real, start: 2026-12-01T00:00:00+08:00 }\n", query)
    assert made.status == 201, made.body
    found = made.json["clock"]
    assert {"mode": found["mode"], "rate": found["rate"], "start": found["now"][:16]} == clock


@pytest.mark.parametrize(
    "query",
    [
        "id=a/b",
        "id=",
        "seed=x",
        "seed=-1",
        "seed=1.5",
        "seed=9223372036854775808",
        f"seed={'9' * 5000}",
        "seed=%D9%A1",
        "credentials=none",
        "clock=sideways",
        "clock=xN",
        "clock=x0",
        "clock=x0.001",
        "clock=x100001",
        "clock=x" + "9" * 500,
        "start=tomorrow",
        "start=2027-01-01T00:00:00",
        "scenario=default",
        "colour=green",
    ],
)
def test_a_bad_parameter_is_refused(client: Client, query: str) -> None:
    refused = send(client, MINE, query)
    assert (refused.status, refused.json["error"]) == (400, "bad_request")
    assert ids(client) == ["default"]


def test_json_takes_no_parameters(client: Client) -> None:
    refused = client.sim("POST", "/sandboxes?id=mine", {})
    assert (refused.status, refused.json["path"]) == (400, "id")


def test_problems_have_their_line_and_column(client: Client) -> None:
    refused = send(client, "scenario: mine\nsed: 1\nclock: sideways\n")
    assert (refused.status, refused.json["error"]) == (400, "bad_scenario")
    assert [(one["file"], one["line"], one["column"], one["code"]) for one in refused.json["problems"]] == [
        (None, 2, 1, "unknown_key"),
        (None, 3, 8, "bad_clock"),
    ]


@pytest.mark.parametrize(("text", "code"), [("", "empty"), ("# nothing\n", "empty"), ("- a\n", "type"), ("x", "type")])
def test_a_body_that_is_no_scenario_is_refused(client: Client, text: str, code: str) -> None:
    refused = send(client, text)
    assert (refused.status, refused.json["problems"][0]["code"]) == (400, code)


@pytest.mark.parametrize(
    ("text", "place"),
    [(text, place) for _, text, place in REFUSED] + [(text, f"0:0: {code}") for _, text, code in HOSTILE],
    ids=[row[0] for row in (*REFUSED, *HOSTILE)],
)
def test_a_hostile_body_is_refused_as_a_hostile_file_is(client: Client, text: str | bytes, place: str) -> None:
    refused = send(client, text)
    assert refused.status == 400
    if len(text) > 2 * 1024 * 1024:
        assert refused.json["error"] == "bad_request"
    else:
        assert place.rpartition(" ")[2] in [one["code"] for one in refused.json["problems"]]
    assert ids(client) == ["default"]


def test_a_body_may_have_a_megabyte(client: Client) -> None:
    comment = "# " + "x" * (1024 * 1024 - len(MINE) - 3) + "\n"
    assert send(client, comment + MINE).status == 201
    refused = send(client, comment + MINE + "#")
    assert (refused.status, refused.json["problems"][0]["code"]) == (400, "too_big")


@pytest.mark.parametrize("key", ["extends", "catalog"])
@pytest.mark.parametrize("name", ["./mine.yaml", "/etc/passwd", "../scenarios/default.yaml", "x.yaml"])
def test_without_the_folder_a_body_names_no_file(client: Client, key: str, name: str) -> None:
    refused = send(client, f"{key}: {name}\n")
    [problem] = refused.json["problems"]
    assert (refused.status, problem["code"], problem["line"]) == (400, "no_file", 1)


def test_with_the_folder_a_body_extends_its_files(among: Client, folder: Path) -> None:
    (folder / "goods.yaml").write_text(PRODUCT)
    made = send(among, "extends: [./mine.yaml, sub/base.yaml]\ncatalog: goods.yaml\n", "id=own")
    assert (made.status, made.json["seed"]) == (201, 6)
    live = among.app.sandboxes.get("own")
    assert "Q" in live.core.state.catalog.products
    assert among.pay(sandbox="own").data["status"] == "Failed"
    inline = among.sim("POST", "/sandboxes", {"scenario": {"extends": "./mine.yaml"}})
    assert (inline.status, inline.json["seed"]) == (201, 5)


# A file of the folder


def test_a_sandbox_starts_from_a_file(among: Client) -> None:
    made = among.sim("POST", "/sandboxes", {"id": "own", "seed": 7, "scenario": {"file": "mine.yaml"}})
    assert (made.status, made.json["scenario"], made.json["seed"]) == (201, "mine", 7)
    assert among.pay(sandbox="own").data["status"] == "Failed"


@pytest.mark.parametrize("name", ["./mine.yaml", "sub/deep.yaml", "within.yaml", "sub/./deep.yaml"])
def test_files_below_the_folder_are_named_by_their_path(among: Client, name: str) -> None:
    assert start(among, name).status == 201


def test_a_reset_returns_to_the_content_of_the_file(among: Client, folder: Path) -> None:
    assert among.sim("POST", "/sandboxes", {"id": "own", "scenario": {"file": "mine.yaml"}}).status == 201
    (folder / "mine.yaml").unlink()
    assert among.sim("POST", "/sandboxes/own/reset").status == 200
    assert among.pay(sandbox="own").data["status"] == "Failed"


def test_without_the_flag_the_refusal_names_it(client: Client) -> None:
    for name in ("mine.yaml", "/etc/passwd", "../x"):
        refused = start(client, name)
        assert (refused.status, refused.json["error"]) == (400, "no_scenarios_folder")
        assert "--scenarios DIR" in refused.json["message"]


# Names that lead out, to nothing, or to what is no ordinary file.
OUTSIDE = ["out.yaml", "nowhere.yaml", "absolute.yaml", "hop.yaml", "way-out/outside.yaml", "passwd.yaml", "zero.yaml"]
OUTSIDE += ["way-out/there-is-none.yaml", "way-out/scenarios-too/x.yaml"]
FORBIDDEN = ["../outside.yaml", "../there-is-none.yaml", "/etc/passwd", "/etc/there-is-none.yaml", "..", "", ".", "/"]
FORBIDDEN += [
    "sub/../mine.yaml",
    "sub/../../outside.yaml",
    "..\\outside.yaml",
    "notes.txt",
    "mine.yaml\0",
    "mine.yaml\n",
]
FORBIDDEN += [
    "~/x",
    "mine",
    "//mine.yaml",
    "%2e%2e/outside.yaml\x85.yaml",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_link_out_of_the_folder_counts_as_missing(among: Client, name: str) -> None:
    refused, absent = start(among, name), start(among, "absent-one.yaml")
    assert (refused.status, refused.json["error"]) == (400, "unknown_file")
    said, known = (one.json["message"].partition(" in the folder")[0] for one in (refused, absent))
    assert (said, known) == (f"there is no file {name!r}", "there is no file 'absent-one.yaml'")
    assert b"4711" not in refused.body


@pytest.mark.parametrize("name", FORBIDDEN, ids=[ascii(name)[:40] for name in FORBIDDEN])
def test_a_name_that_is_no_path_below_the_folder_is_refused(among: Client, folder: Path, name: str) -> None:
    refused = start(among, name)
    assert (refused.status, refused.json["error"]) == (400, "unknown_file"), refused.body
    assert refused.json["message"].startswith("a file of --scenarios is named by its path below that folder")
    assert str(folder) not in refused.json["message"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("loop.yaml", "cannot be read: Too many levels of symbolic links"),
        ("folder.yaml", "this is a folder"),
        ("pipe.yaml", "this is not an ordinary file"),
        (f"{'n' * 300}.yaml", "cannot be read: File name too long"),
    ],
)
def test_a_special_file_is_refused_with_the_reason(among: Client, name: str, reason: str) -> None:
    refused = start(among, name)
    assert (refused.status, refused.json["error"], refused.json["path"]) == (400, "unknown_file", "scenario.file")
    assert refused.json["message"].startswith(reason)


def test_a_file_that_the_server_may_not_read_is_refused(among: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*arguments: object, **named: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert start(among, "mine.yaml").json["message"] == "cannot be read: Permission denied: 'mine.yaml'"


@pytest.mark.parametrize("wanted", [5, None, [], {}, True])
def test_a_file_that_is_no_name_is_refused(among: Client, wanted: Any) -> None:
    assert start(among, wanted).json["error"] == "bad_request"
    assert start(among, "mine.yaml", seed=1).json["error"] == "bad_request"


def test_an_unknown_file_gets_a_suggestion_if_one_is_like_it(among: Client, folder: Path) -> None:
    assert start(among, "mien.yaml").json["message"].endswith("(did you mean 'mine.yaml'?)")
    for number in range(LISTED_MAX + 5):
        (folder / f"s{number:05}.yaml").write_text("")
    message = start(among, "qqqqqq.yaml").json["message"]
    assert message == "there is no file 'qqqqqq.yaml' in the folder of --scenarios"
    assert LISTED_MAX - 20 < len(ScenarioFolder.of_scenarios(folder).names()) <= LISTED_MAX


def test_only_files_that_can_be_asked_for_are_suggested_and_listed(among: Client, folder: Path) -> None:
    (folder / "leads-in.yaml").symlink_to("mine.yaml")
    (folder / "two\nlines.yaml").write_text("")
    (folder / os.fsdecode(b"latin-\xe4.yaml")).write_text("")
    listed = ScenarioFolder.of_scenarios(folder).names()
    assert {"mine.yaml", "leads-in.yaml"} <= set(listed)
    left_out = {*OUTSIDE, "loop.yaml", "pipe.yaml", "folder.yaml", "two\nlines.yaml"} | {
        name for name in os.listdir(folder) if not name.isprintable()
    }
    assert left_out & set(listed) == set()
    for name in OUTSIDE:
        assert f"did you mean '{name}'" not in start(among, name).json["message"]


@pytest.mark.parametrize("key", ["extends", "catalog"])
@pytest.mark.parametrize(
    "name", [*OUTSIDE, "./absent.yaml", "../outside.yaml", "/etc/passwd", "loop.yaml", "pipe.yaml"]
)
def test_references_of_a_file_or_a_body_are_confined_too(among: Client, folder: Path, key: str, name: str) -> None:
    text = f"scenario: a\n{key}: {name}\n"
    (folder / "asks.yaml").write_text(text)
    wanted = [start(among, "asks.yaml"), send(among, text)]
    wanted.append(among.sim("POST", "/sandboxes", {"scenario": {key: name}}))
    for refused, place in zip(wanted, [("asks.yaml", 2), (None, 2), (None, 0)], strict=True):
        [problem] = refused.json["problems"]
        assert (refused.status, problem["code"], problem["file"], problem["line"]) == (400, "no_file", *place)
        assert b"4711" not in refused.body
        assert b"root:" not in refused.body
        assert str(folder.parent).encode() not in refused.body
        if name in OUTSIDE:
            assert problem["message"] == f"there is no file '{name}' beside this file"


def test_a_problem_in_a_base_is_in_that_file(among: Client, folder: Path) -> None:
    (folder / "sub" / "base.yaml").write_text("extends: default\nsed: 6\n")
    [problem] = start(among, "sub/deep.yaml").json["problems"]
    assert (problem["file"], problem["line"], problem["code"]) == ("sub/base.yaml", 2, "unknown_key")


@pytest.mark.parametrize("text", ["", "# a comment\n", "- a\n", "a: [\n", "a: &x 1\n"])
def test_a_file_that_holds_no_scenario_is_refused_with_its_place(among: Client, folder: Path, text: str) -> None:
    (folder / "mine.yaml").write_text(text)
    refused = start(among, "mine.yaml")
    assert (refused.status, refused.json["error"]) == (400, "bad_scenario")
    assert (refused.json["problems"][0]["file"], refused.json["problems"][0]["line"]) == ("mine.yaml", 1)


@pytest.mark.parametrize("moment", ["before the file is opened", "after it was opened, and back again"])
def test_a_link_that_is_made_meanwhile_leads_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The folder of the file becomes a link to a folder outside just before it is opened, and perhaps one inside again
    before it is looked at."""
    outside = folder.parent / "scenarios-too"
    (outside / "deep.yaml").write_text(SECRET)
    (folder / "sub").rename(folder / "real")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.yaml").write_text(MINE)
    opened = os.open

    def swapped(*arguments: Any) -> int:
        (folder / "sub").rename(folder / "aside")
        (folder / "sub").symlink_to(outside)
        found = opened(*arguments)
        if moment.startswith("after"):
            (folder / "sub").unlink()
            (folder / "aside").rename(folder / "sub")
        return found

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(Unreadable, match="there is no such file"):
        ScenarioFolder.of_scenarios(folder).read("sub/deep.yaml")


def test_a_folder_that_is_a_link_itself_is_the_folder_that_it_leads_to(folder: Path) -> None:
    (folder.parent / "link").symlink_to("scenarios")
    assert ScenarioFolder.of_scenarios(folder.parent / "link").read("mine.yaml") == MINE.encode()
