"""Watching a scenario's files: which files, when a change takes effect, and what is reported."""

import asyncio
from pathlib import Path

import pytest

from simulator.domain.errors import Conflict
from simulator.domain.model.scenario import Scenario
from simulator.runtime.scenario_watch import ScenarioWatch
from simulator.scenario.library import bundled_path
from simulator.scenario.reading.sources import files_behind


class Watched:
    """A watch over a file in a folder of its own, with what came of it."""

    def __init__(self, path: Path) -> None:
        self.loaded: list[Scenario] = []
        self.reported: list[str] = []
        self.watch = ScenarioWatch(str(path), self._load, self.reported.extend)

    async def _load(self, scenario: Scenario) -> tuple[str, ...]:
        if scenario.name == "refused":
            raise Conflict("taken", "that key is taken")
        self.loaded.append(scenario)
        return ("seed: waits",) if scenario.seed == 9 else ()

    def look(self, times: int = 2) -> list[str]:
        """Look so often, and what was reported then, without the path."""
        self.reported.clear()
        asyncio.run(self._polls(times))
        return [line.rpartition("/")[2] for line in self.reported]

    async def _polls(self, times: int) -> None:
        for _ in range(times):
            await self.watch.poll()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text("resellers: []\nseed: 1\n")
    (tmp_path / "catalog.yaml").write_text("products: []\n")
    path = tmp_path / "mine.yaml"
    path.write_text("extends: base.yaml\ncatalog: catalog.yaml\n")
    return path


def test_it_watches_every_file_that_a_scenario_consists_of(path: Path) -> None:
    base = path.with_name("base.yaml")
    assert set(files_behind(str(path))) == {path, base, path.with_name("catalog.yaml")}
    base.write_text("extends: slow-provider\n")
    assert {bundled_path("slow-provider"), bundled_path("default")} < set(files_behind(str(path)))
    assert files_behind("default") == [bundled_path("default")]


def test_missing_files_and_files_that_extend_each_other_do_no_harm(path: Path) -> None:
    path.with_name("base.yaml").write_text("extends: mine.yaml\n")
    path.with_name("catalog.yaml").unlink()
    assert len(files_behind(str(path))) == 3


def test_unchanged_files_cause_no_reload(path: Path) -> None:
    assert Watched(path).look(5) == []


@pytest.mark.parametrize("name", ["mine.yaml", "base.yaml", "catalog.yaml"])
def test_each_of_the_files_counts_and_is_read_once_when_it_stands_still(path: Path, name: str) -> None:
    watched = Watched(path)
    with path.with_name(name).open("a") as file:
        file.write("# more\n")
    assert watched.look(1) == []
    assert watched.look(3) == ["mine.yaml: loaded"]
    assert len(watched.loaded) == 1


def test_a_bad_file_is_reported_and_loaded_once_it_is_corrected(path: Path) -> None:
    watched = Watched(path)
    path.write_text("paiments: []\n")
    problem, then = watched.look()
    assert problem.startswith("mine.yaml:1:1: unknown_key")
    assert then == "mine.yaml: not loaded; the previous scenario stays active"
    assert watched.loaded == []
    path.write_text("extends: default\nseed: 2\n")
    assert watched.look() == ["mine.yaml: loaded"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "mine.yaml:1:1: empty"),
        ("# half a thought\n", "mine.yaml:1:1: empty"),
        ("scenario: half a file\n", "mine.yaml:1:1: missing_key without resellers"),
        ("scenario: half a file\nextends:", "mine.yaml:2:9: type"),
        ("extends: default\npayments: [{}", "mine.yaml:2:11: syntax"),
    ],
)
def test_an_empty_or_half_written_file_is_never_loaded(path: Path, text: str, problem: str) -> None:
    watched = Watched(path)
    path.write_text(text)
    said, then = watched.look()
    assert said.startswith(problem)
    assert then == "mine.yaml: not loaded; the previous scenario stays active"
    assert watched.loaded == []


def test_a_file_that_is_missing_is_waited_for(path: Path) -> None:
    watched = Watched(path)
    path.write_text("extends: later.yaml\n")
    assert "no_file" in watched.look()[0]
    path.with_name("later.yaml").write_text("resellers: []\nseed: 3\n")
    assert watched.look() == ["mine.yaml: loaded"]
    path.unlink()
    assert "no_file" in watched.look()[0]


def test_deferred_and_refused_parts_are_reported(path: Path) -> None:
    watched = Watched(path)
    path.write_text("extends: default\nseed: 9\n")
    assert watched.look() == ["mine.yaml: loaded", "mine.yaml: seed: waits"]
    path.write_text("extends: default\nscenario: refused\n")
    assert watched.look() == ["mine.yaml: not loaded; the previous scenario stays active: that key is taken"]


def test_a_mistake_of_ours_is_reported_and_the_next_change_is_loaded(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(path)
    monkeypatch.setattr("simulator.runtime.scenario_watch.POLL_INTERVAL_S", 0.0)
    load, write, secret = watched.watch._load, path.write_text, "a secret of the file"

    async def failing(scenario: Scenario) -> tuple[str, ...]:
        if scenario.seed == 7:
            raise KeyError(secret)
        return await load(scenario)

    async def until(reports: int) -> None:
        async with asyncio.timeout(60):
            while len(watched.reported) < reports:  # noqa: ASYNC110 - no event signals a report
                await asyncio.sleep(0)

    async def changes() -> None:
        watched.watch.start()
        write("extends: default\nseed: 7\n")
        await until(1)
        write("extends: default\nseed: 88\n")
        await until(2)

    monkeypatch.setattr(watched.watch, "_load", failing)
    asyncio.run(changes())
    failed, loaded = watched.reported
    assert ": not loaded; a mistake of the simulator, please report it: KeyError in" in failed
    assert "test_scenario_watch.py, line " in failed
    assert loaded.endswith("mine.yaml: loaded")
    assert "a reload failed: KeyError in test_scenario_watch.py" in caplog.text
    assert secret not in failed + caplog.text


def test_files_that_cannot_be_listed_are_one_mistake_and_not_one_for_each_look(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(path)

    def fails(_: str) -> list[Path]:
        raise RuntimeError

    monkeypatch.setattr("simulator.runtime.scenario_watch.files_behind", fails)
    path.write_text("extends: default\nseed: 2\n")
    with pytest.raises(RuntimeError):
        watched.look()
    assert watched.look(5) == []


def test_a_change_during_the_reading_is_seen_at_the_next_look(path: Path) -> None:
    watched = Watched(path)
    write = path.write_text

    async def load(scenario: Scenario) -> tuple[str, ...]:
        if scenario.seed == 4:
            write("extends: default\nseed: 55\n")
        watched.loaded.append(scenario)
        return ()

    watched.watch._load = load
    path.write_text("extends: default\nseed: 4\n")
    watched.look(5)
    assert [scenario.seed for scenario in watched.loaded] == [4, 55]
