"""Files of `--scenarios` have room for the catalog of a large account, but no client fills the memory with them."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.client_files import LARGE_MAX
from simulator.scenario.reading import yaml_parser
from simulator.scenario.reading.nodes import Node, Position
from simulator.scenario.reading.scenario_files import BYTES_MAX, NODES_MAX, OWN_FILE
from simulator.scenario.reading.yaml_parser import load_text
from tests.support.client import Client, Response, running

PADDING = "#" + "-" * BYTES_MAX + "\n"  # many bytes, and nothing to read
LARGE = PADDING + "extends: default\nclock: manual\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "large.yaml").write_text(LARGE)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    with running(scenarios=folder) as made:
        yield made


def start(client: Client, scenario: dict[str, Any], **beside: Any) -> Response:
    return client.sim("POST", "/sandboxes", {"scenario": scenario, **beside})


def over(seed: int) -> dict[str, Any]:
    return {"extends": "./large.yaml", "seed": seed}


def fill(client: Client) -> None:
    for number in range(LARGE_MAX):
        assert start(client, over(number), id=f"own-{number}").status == 201


def test_a_file_of_the_folder_has_the_bounds_of_a_file(client: Client, folder: Path) -> None:
    options = ", ".join(f"{{ code: C{number} }}" for number in range(NODES_MAX // 2))
    field = f"{{ id: f, type: select, label: F, options: [{options}] }}"
    product = f"{{ code: P, name: P, processing_time: pin, discount: {{ type: fixed, value: 1 }}, fields: [{field}] }}"
    (folder / "many.yaml").write_text(f"resellers: [{{ code: R }}]\ncatalog: {{ products: [{product}] }}\n")
    assert start(client, {"file": "many.yaml"}).status == 201
    body = (folder / "many.yaml").read_bytes()
    refused = client.send("POST", "/_sim/sandboxes", "", body, {"content-type": "application/yaml"})
    assert [problem["code"] for problem in refused.json["problems"]] == ["too_big"]


@pytest.mark.parametrize("scenario", [{"file": "large.yaml"}, over(7)])
def test_sandboxes_of_the_same_files_share_one_scenario(client: Client, scenario: dict[str, Any]) -> None:
    for number in range(LARGE_MAX + 2):
        assert start(client, scenario, id=f"own-{number}").status == 201
    first, *others = (client.app.sandboxes.get(f"own-{number}").scenario for number in range(LARGE_MAX + 2))
    assert all(other is first for other in others)


def test_a_shared_file_is_not_parsed_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert start(client, {"file": "large.yaml"}).status == 201
    monkeypatch.setattr(yaml_parser, "_Composer", None)
    assert start(client, {"file": "large.yaml"}).status == 201


def test_a_file_that_has_changed_is_read_again(client: Client, folder: Path) -> None:
    assert start(client, {"file": "large.yaml"}, id="before").json["seed"] == 1
    (folder / "large.yaml").write_text(LARGE + "seed: 5\n")
    assert start(client, {"file": "large.yaml"}, id="after").json["seed"] == 5
    (folder / "large.yaml").unlink()
    assert start(client, {"file": "large.yaml"}).json["error"] == "unknown_file"


def test_there_are_so_many_different_large_scenarios_at_a_time(client: Client) -> None:
    fill(client)
    refused = start(client, over(LARGE_MAX))
    assert (refused.status, refused.json["error"]) == (409, "too_many_large_scenarios")
    assert start(client, over(0)).status == 201, "one that there is already"
    assert start(client, {"extends": "default", "seed": 99}).status == 201, "one that is not large"


def test_a_deleted_sandbox_makes_room(client: Client) -> None:
    fill(client)
    assert client.sim("DELETE", "/sandboxes/own-3").status == 204
    assert start(client, over(LARGE_MAX)).status == 201


def test_a_large_file_is_refused_before_it_is_read_as_yaml(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(client)
    monkeypatch.setattr(yaml_parser, "_Composer", None)
    assert start(client, {"file": "large.yaml"}).json["error"] == "too_many_large_scenarios"


def test_all_files_of_a_scenario_share_a_byte_budget(client: Client, folder: Path) -> None:
    padding = "#" + "-" * (OWN_FILE.bytes_max // 2) + "\n"
    (folder / "lower.yaml").write_text(padding + "extends: default\n")
    (folder / "upper.yaml").write_text(padding + "extends: ./lower.yaml\n")
    refused = start(client, {"file": "upper.yaml"})
    assert refused.status == 400
    (problem,) = refused.json["problems"]
    assert (problem["code"], problem["path"]) == ("no_file", "extends")
    assert f"more than {OWN_FILE.bytes_max} bytes" in problem["message"]


def test_the_garbage_collector_does_not_visit_the_values_of_a_scenario() -> None:
    assert not gc.is_tracked(Position("f"))
    assert not gc.is_tracked(Node(1, Position("f")))
    root = load_text("products: [{ a: 1 }, { b: 2 }]", "f").root
    assert isinstance(root.value, dict)
    items = root.value["products"].value
    assert isinstance(items, list)
    nodes = (root, *items)
    assert not any(map(gc.is_tracked, nodes))
    tracks_any = gc.is_tracked({"a": 1})  # since Python 3.14 every mapping is
    assert any(gc.is_tracked(node.value) or gc.is_tracked(node.keys) for node in nodes) == tracks_any
