"""`/_sim/scenarios`: what there is, as it is written, and what is wrong with a text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.client_files import HEAD_BYTES
from simulator.scenario.library import descriptions, end_column, names, problems, text
from simulator.scenario.lint.conditions import COMPARISONS_MAX
from tests.support.client import Client, Response, running

OWN = "extends: default\ndescription: my own\nscenario: own\n"
WRONG = "extends: default\npayments:\n  - when: { prodct: RELOAD }\n    then: [{ status: Faild }]\n"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "scenarios"


@pytest.fixture
def among(tmp_path: Path, folder: Path) -> Iterator[Client]:
    """A client of a server with a folder of scenarios, beside a private file."""
    (folder / "sub").mkdir(parents=True)
    (folder / "own.yaml").write_text(OWN)
    (folder / "broken.yaml").write_text("a: [\n")
    (folder / "long.yaml").write_text("#" + "x" * HEAD_BYTES + "\ndescription: long\n")
    (folder / "huge.yaml").write_text("#" + "x" * 1024 * 1024)
    (folder / "bytes.yaml").write_bytes(b"\xff\n")
    (folder / "sub" / "base.yaml").write_text("extends: default\nseed: 6\n")
    (tmp_path / "outside.yaml").write_text("description: secret\n")
    (folder / "out.yaml").symlink_to("../outside.yaml")
    with running(scenarios=folder) as made:
        yield made


def check(client: Client, text: str | bytes) -> Any:
    """Return the findings for a text that is the body."""
    response = send(client, text)
    assert response.status == 200, response.body
    return response.json


def send(client: Client, text: str | bytes, query: str = "") -> Response:
    body = text if isinstance(text, bytes) else text.encode()
    return client.send("POST", "/_sim/scenarios/check", query, body, {"content-type": "application/yaml"})


def refusal(response: Response) -> tuple[int, str, str]:
    return response.status, response.json["error"], response.json["path"]


# Existing scenarios


def test_the_bundled_scenarios_are_listed_with_their_descriptions(client: Client) -> None:
    found = client.sim("GET", "/scenarios").json
    assert {one["name"]: one["description"] for one in found["scenarios"]} == descriptions()
    assert [one["name"] for one in found["scenarios"]] == names()
    assert {one["source"] for one in found["scenarios"]} == {"bundled"}
    assert (found["has_folder"], found["has_more"], found["cursor"]) == (False, False, None)


def test_files_of_the_folder_are_listed_after_bundled_scenarios_and_broken_files_have_no_description(
    among: Client,
) -> None:
    found = among.sim("GET", "/scenarios").json
    own = {one["name"]: one["description"] for one in found["scenarios"] if one["source"] == "folder"}
    assert own == {"own.yaml": "my own", "broken.yaml": None, "long.yaml": None, "huge.yaml": None, "bytes.yaml": None}
    assert found["has_folder"]


def test_scenarios_are_listed_by_pages(among: Client) -> None:
    whole = among.sim("GET", "/scenarios").json["scenarios"]
    first = among.sim("GET", "/scenarios?limit=3").json
    rest = among.sim("GET", f"/scenarios?cursor={first['cursor']}").json
    assert first["has_more"]
    assert not rest["has_more"]
    assert [*first["scenarios"], *rest["scenarios"]] == whole


@pytest.mark.parametrize("name", names())
def test_a_bundled_scenario_is_shown_unchanged(client: Client, name: str) -> None:
    found = client.sim("GET", f"/scenarios/{name}?source=bundled").json
    assert (found["name"], found["source"], found["text"]) == (name, "bundled", text(name))


def test_a_file_of_the_folder_is_shown_unchanged(among: Client) -> None:
    found = among.sim("GET", "/scenarios/own.yaml").json
    assert (found["name"], found["source"], found["text"]) == ("own.yaml", "folder", OWN)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("defalt", (404, "unknown_scenario", "name")),
        ("none.yaml", (404, "unknown_scenario", "name")),
        ("out.yaml", (404, "unknown_scenario", "name")),
        ("..", (404, "unknown_scenario", "name")),
        ("default?source=folder", (404, "unknown_scenario", "name")),
        ("own.yaml?source=bundled", (404, "unknown_scenario", "name")),
        ("huge.yaml", (409, "scenario_too_large", "name")),
        ("bytes.yaml", (409, "scenario_not_text", "name")),
        ("default?source=elsewhere", (400, "bad_request", "source")),
        ("default?sorce=bundled", (400, "bad_request", "sorce")),
    ],
)
def test_content_that_cannot_be_shown_is_refused(among: Client, asked: str, expected: tuple[int, str, str]) -> None:
    assert refusal(among.sim("GET", f"/scenarios/{asked}")) == expected


def test_a_misspelt_name_is_answered_with_the_right_name(client: Client) -> None:
    assert "did you mean 'bad-day'?" in client.sim("GET", "/scenarios/bad-dya").json["message"]


def test_a_server_without_a_folder_has_no_files(client: Client) -> None:
    assert refusal(client.sim("GET", "/scenarios/own.yaml")) == (404, "unknown_scenario", "name")


def test_editors_complete_with_the_schema_of_scenarios(client: Client) -> None:
    found = client.sim("GET", "/scenario.schema.json").json
    assert {"payments", "faults", "resellers"} <= set(found["properties"])
    assert found["definitions"]["payment_rule"]["properties"]["when"]


# Findings


@pytest.mark.parametrize("name", names())
def test_a_bundled_scenario_is_right(client: Client, name: str) -> None:
    found = check(client, text(name))
    assert (found["ok"], found["loads"], found["problems"]) == (True, True, [])


def test_a_problem_has_its_place_in_the_text_and_what_was_meant(client: Client) -> None:
    found = check(client, WRONG)
    assert (found["ok"], found["loads"]) == (False, False)
    lines = WRONG.splitlines()
    shown = [
        (
            lines[one["line"] - 1][one["column"] - 1 : one["end_column"] - 1],
            one["code"],
            one["suggestion"],
            one["severity"],
        )
        for one in found["problems"]
    ]
    assert shown == [
        ("prodct", "unknown_key", "product", "error"),
        ("Faild", "unknown_value", "Failed", "error"),
    ]


@pytest.mark.parametrize(
    ("line", "column", "marked"),
    [
        ("  - { name: slow, when: { product: X } }", 5, None),
        ("  - { name: slow }", 7, "name"),
        ("  - { name: slow }", 13, "slow"),
        ('key: "a: b" # why', 6, '"a: b"'),
        ("key: 'it''s'", 6, "'it''s'"),
        ("key: one two  # why", 6, "one two"),
        ("at: 12:30", 5, "12:30"),
    ],
)
def test_the_end_of_a_key_or_value_is_reported(line: str, column: int, marked: str | None) -> None:
    end = end_column(line, column)
    assert (None if end is None else line[column - 1 : end - 1]) == marked


def test_content_that_loads_without_effect_is_a_warning(client: Client) -> None:
    twice = "extends: default\npayments:\n  - then: [{ status: Failed }]\n  - then: [{ status: Failed }]\n"
    found = check(client, twice)
    assert (found["ok"], found["loads"]) == (False, True)
    assert {one["severity"] for one in found["problems"]} == {"warning"}
    made = client.send("POST", "/_sim/sandboxes", "", twice.encode(), {"content-type": "application/yaml"})
    assert made.status == 201


@pytest.mark.parametrize("written", [WRONG, "a: [", "", "\x00", "extends: defalt\n", "scenario: alone\n", "[]", OWN])
def test_the_command_finds_the_same_problems(client: Client, tmp_path: Path, written: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(written)
    expected = [(one.line, one.column, one.path, one.code, one.message) for one in problems(file)]
    found = check(client, written)["problems"]
    assert [(one["line"], one["column"], one["path"], one["code"], one["message"]) for one in found] == expected


def test_bytes_that_are_no_text_are_a_problem_and_no_refusal(client: Client) -> None:
    assert [one["code"] for one in check(client, b"a: \xff")["problems"]] == ["encoding"]


def test_a_text_of_more_than_a_mebibyte_is_a_problem(client: Client) -> None:
    assert [one["code"] for one in check(client, b"#" * (1024 * 1024 + 1))["problems"]] == ["too_big"]


def test_a_text_in_json_may_extend_files_of_a_folder_below(among: Client) -> None:
    text = "extends: ./base.yaml\n"
    there = among.sim("POST", "/scenarios/check", {"text": text, "extends_dir": "sub"}).json
    above = among.sim("POST", "/scenarios/check", {"text": text}).json
    assert there["ok"]
    assert [one["code"] for one in above["problems"]] == ["no_file"]
    assert check(among, "extends: ./sub/base.yaml\n")["ok"]


def test_a_problem_of_a_file_that_is_extended_names_it(among: Client) -> None:
    found = check(among, "extends: ./broken.yaml\n")["problems"][0]
    assert (found["file"], found["end_column"]) == ("broken.yaml", None)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "bad_request", "text")),
        ({"text": 1}, (400, "bad_request", "text")),
        ({"text": OWN, "extends_dir": ".."}, (400, "bad_request", "extends_dir")),
        ({"text": OWN, "extends_dir": "/etc"}, (400, "bad_request", "extends_dir")),
        ({"text": OWN, "extends": "sub"}, (400, "bad_request", "extends")),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(among: Client, body: Any, expected: tuple[int, str, str]) -> None:
    assert refusal(among.sim("POST", "/scenarios/check", body)) == expected


def test_a_folder_is_refused_by_a_server_without_one(client: Client) -> None:
    response = client.sim("POST", "/scenarios/check", {"text": OWN, "extends_dir": "sub"})
    assert refusal(response) == (400, "no_scenarios_folder", "extends_dir")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_the_path_of_the_check_takes_no_other_method(client: Client, method: str) -> None:
    response = client.sim(method, "/scenarios/check")
    assert (response.status, response.headers["allow"]) == (405, "POST")


# The text and its values


@pytest.mark.parametrize("name", names())
def test_a_bundled_scenario_becomes_a_document_and_a_text_again(client: Client, name: str) -> None:
    written = client.sim("GET", f"/scenarios/{name}").json["text"]
    document = check(client, written)["document"]
    answer = client.sim("POST", "/scenarios/check", {"document": document}).json
    assert answer["document"] == document
    assert check(client, answer["text"])["document"] == document


def test_a_text_that_is_not_yaml_has_no_document(client: Client) -> None:
    found = check(client, "a: [\n")
    assert (found["document"], found["text"]) == (None, "a: [\n")


def test_a_check_takes_a_text_or_a_document(client: Client) -> None:
    both = client.sim("POST", "/scenarios/check", {"text": OWN, "document": {}})
    assert refusal(both) == (400, "bad_request", "text")


def test_a_document_of_many_levels_is_a_problem_and_no_failure(client: Client) -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"a": deep}
    response = client.sim("POST", "/scenarios/check", {"document": deep})
    assert response.status == 400 or not response.json["loads"]


# Saving


def saved(client: Client, name: str, text: str, revision: str | None = None) -> Response:
    body = {"text": text} if revision is None else {"text": text, "revision": revision}
    return client.sim("PUT", f"/scenarios/{name}", body)


def test_a_scenario_is_saved_in_the_folder_and_can_be_changed(among: Client, folder: Path) -> None:
    first = saved(among, "new.yaml", OWN)
    assert (first.status, (folder / "new.yaml").read_text()) == (200, OWN)
    read = among.sim("GET", "/scenarios/new.yaml").json
    assert (read["text"], read["revision"]) == (OWN, first.json["revision"])
    second = saved(among, "new.yaml", OWN + "# changed\n", read["revision"])
    assert (second.status, (folder / "new.yaml").read_text()) == (200, OWN + "# changed\n")
    assert second.json["revision"] != first.json["revision"]
    assert among.sim("POST", "/sandboxes", {"scenario": {"extends": "./new.yaml"}}).status == 201


def test_a_file_that_was_changed_meanwhile_is_kept(among: Client, folder: Path) -> None:
    revision = among.sim("GET", "/scenarios/own.yaml").json["revision"]
    (folder / "own.yaml").write_text(OWN + "# by somebody else\n")
    for given in (revision, None):
        assert refusal(saved(among, "own.yaml", OWN, given)) == (409, "scenario_changed", "revision")
    assert refusal(saved(among, "gone.yaml", OWN, revision)) == (409, "scenario_changed", "revision")
    assert (folder / "own.yaml").read_text() == OWN + "# by somebody else\n"


def test_invalid_content_is_not_saved(among: Client, folder: Path) -> None:
    response = saved(among, "new.yaml", "extends: default\nsufix: 1\n")
    assert (response.status, response.json["error"]) == (400, "bad_scenario")
    assert not (folder / "new.yaml").exists()


@pytest.mark.parametrize("name", ["..%2Fout.yaml", "%2Ftmp%2Fout.yaml", "new.txt", "default", "..\\out.yaml"])
def test_no_file_is_saved_outside_the_folder(among: Client, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert saved(among, name, OWN).status in (400, 404)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_that_leads_out_is_not_followed(among: Client, tmp_path: Path) -> None:
    assert refusal(saved(among, "out.yaml", OWN)) == (400, "bad_request", "name")
    assert (tmp_path / "outside.yaml").read_text() == "description: secret\n"


def test_a_server_without_a_folder_saves_no_file(client: Client) -> None:
    assert refusal(saved(client, "new.yaml", OWN)) == (400, "no_scenarios_folder", "name")


def test_a_file_that_cannot_be_written_is_reported_and_leaves_no_trace(
    among: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(folder.iterdir())

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    response = saved(among, "new.yaml", OWN)
    assert refusal(response) == (409, "scenario_not_saved", "name")
    assert "No space left on device" in response.json["message"]
    assert sorted(folder.iterdir()) == before


def test_a_check_has_no_parameters(client: Client) -> None:
    assert refusal(send(client, OWN, "id=mine")) == (400, "bad_request", "id")


def test_rules_of_a_huge_scenario_are_compared_so_often_and_no_more(client: Client) -> None:
    """Each pair of patterns takes microseconds, and a body has thousands of rules."""
    rule = "  - {{ when: {{ account: {{ pattern: '[a-z]{{{n}}}.*x{m}' }} }}, then: {{ status: 500 }} }}\n"
    count = 1900
    assert count * (count - 1) / 2 > COMPARISONS_MAX
    text = "extends: default\nfaults:\n" + "".join(rule.format(n=m % 50, m=m) for m in range(count))
    assert check(client, text)["ok"]
