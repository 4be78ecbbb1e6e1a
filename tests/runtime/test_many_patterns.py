"""Loading 1,500 rules with patterns blocks no client: from every source, they are read and compiled beside
the event loop, and none of its turns is long (the suite measures this for every test; see `longest_turn`)."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from simulator.runtime.scenario_watch import ScenarioWatch
from simulator.scenario.library import load_scenario
from simulator.scenario.reading import yaml_parser
from tests.support.client import Client, running

PATTERNS = 1_500
_numbers = count(1)


def pattern() -> str:
    """One that was never compiled before."""
    return f"^0[0-9]+{next(_numbers)}(48|15)$"


def scenario() -> dict[str, Any]:
    rules = [{"when": {"account": {"pattern": pattern()}}, "then": [{"status": "Failed"}]} for _ in range(PATTERNS)]
    return {"scenario": "many", "extends": "default", "clock": "manual", "payments": rules}


def rule() -> dict[str, Any]:
    extras = {f"e{number}": {"pattern": pattern()} for number in range(PATTERNS)}
    return {"name": "many", "when": {"extras": extras}, "then": [{"status": "Failed"}]}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """Counts per thread: patterns compiled, texts parsed."""
    done: Counter[tuple[str, str]] = Counter()

    def watched(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            done[what, threading.current_thread().name] += 1
            return function(*arguments, **named)

        return noted

    monkeypatch.setattr(jsonschema_rs, "Draft7Validator", watched("compiled", jsonschema_rs.Draft7Validator))
    monkeypatch.setattr(yaml_parser, "LOADER", watched("parsed", yaml_parser.LOADER))
    return done


async def _json(client: Client, path: Path) -> int:
    return (await client.asim("POST", "/sandboxes", {"id": "many", "scenario": scenario()})).status


async def _yaml(client: Client, path: Path) -> int:
    body = json.dumps(scenario()).encode()
    headers = {"content-type": "application/yaml"}
    return (await client.asend("POST", "/_sim/sandboxes", "id=many", body, headers)).status


async def _file(client: Client, path: Path) -> int:
    wanted = {"id": "many", "scenario": {"file": path.name}}
    return (await client.asim("POST", "/sandboxes", wanted)).status


async def _rule(client: Client, path: Path) -> int:
    return (await client.asim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule()})).status


async def _alone(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a task whose steps are the simulator's own, as `longest_turn` measures them."""
    return await asyncio.create_task(coroutine)


DOORS = {"JSON": _json, "YAML": _yaml, "a file": _file, "a rule": _rule}


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_patterns_are_compiled_and_files_are_parsed_beside_the_event_loop(
    door: str, tmp_path: Path, work: Counter[tuple[str, str]]
) -> None:
    with running(scenarios=tmp_path) as client:
        client.sim("GET", "/health")
        path = tmp_path / "many.yaml"
        path.write_text(json.dumps(scenario()))
        work.clear()
        assert client.run(DOORS[door](client, path)) == 201
        assert work["compiled", "background"] >= PATTERNS
        assert {thread for _, thread in work} == {"background"}


@pytest.mark.slow
def test_a_file_that_is_watched_is_read_beside_the_event_loop_too(
    tmp_path: Path, work: Counter[tuple[str, str]]
) -> None:
    reported: list[str] = []
    path = tmp_path / "many.yaml"
    path.write_text("extends: default\n")
    with running() as client:
        watch = ScenarioWatch(str(path), client.app.load, reported.extend)
        path.write_text(json.dumps(scenario()))
        work.clear()
        for _ in range(2):
            client.run(_alone(watch.poll()))
        assert reported[0] == f"{path}: loaded"
        assert work["parsed", "background"] >= 2
        assert work["compiled", "background"] >= PATTERNS
        assert {thread for _, thread in work} == {"background"}


@pytest.mark.slow
def test_a_reset_and_a_reload_compile_nothing(tmp_path: Path, work: Counter[tuple[str, str]]) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(json.dumps(scenario()))
    with running() as client:
        loaded = load_scenario(path)
        client.run(_json(client, path))
        work.clear()
        assert client.sim("POST", "/sandboxes/many/reset").status == 200
        client.run(_alone(client.app.load(loaded)))
        assert work == {}


@pytest.mark.slow
def test_a_rule_that_was_compiled_ahead_is_the_same_rule(work: Counter[tuple[str, str]]) -> None:
    with running() as client:
        wanted: dict[str, Any] = {"section": "payments", "rule": rule()}
        made = client.sim("POST", "/sandboxes/default/rules", wanted)
        assert (made.status, made.json["id"]) == (201, "added-1")
        assert client.pay(headers={"X-Sim-Rule": "many"}).data["status"] == "Failed"
        again = client.sim("POST", "/sandboxes/default/rules", wanted)
        assert (again.status, again.json["error"]) == (409, "rule_exists")
        wanted["rule"] |= {"name": "other", "id": "own"}
        assert client.sim("POST", "/sandboxes/default/rules", wanted).json["id"] == "own"


@pytest.mark.parametrize(
    "wrong", [{"when": {"product": "NONE"}}, {"then": []}, {"remove": True}, {"when": {"account": {"pattern": "("}}}]
)
def test_a_long_rule_is_refused_as_a_short_one_is(wrong: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {"section": "payments", "rule": {"then": [{"status": "Failed"}], **wrong}}
    body = json.dumps(wanted).encode()
    with running() as client:
        path = "/_sim/sandboxes/default/rules"
        answers = [client.send("POST", path, body=body + b" " * blanks) for blanks in (0, 5000)]
        assert [answer.status for answer in answers] == [400, 400]
        assert answers[0].body == answers[1].body


def test_a_rule_that_was_compiled_for_other_products_is_compiled_again() -> None:
    extras = {f"e{number}": {"pattern": pattern()} for number in range(100)}
    with running() as client:
        client.sandbox({"resellers": [{"code": "A"}]}, "bare")
        body = {
            "section": "payments",
            "rule": {"when": {"product": "RELOAD", "extras": extras}, "then": [{"status": "Failed"}]},
        }
        assert client.sim("POST", "/sandboxes/default/rules", body).status == 201
        assert client.sim("POST", "/sandboxes/bare/rules", body).json["problems"][0]["code"] == "unknown_product"
