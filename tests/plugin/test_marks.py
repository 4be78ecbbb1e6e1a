"""A mark that is spelt almost like ours is refused, unless the project has registered it."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reseller_sim.pytest_plugin import WATCHED, _refuse_parameter, pytest_runtest_call
from reseller_sim.pytest_sandbox import BadMark, settings_of


def item(mark: pytest.MarkDecorator, *registered: str) -> Any:
    """A test with this mark."""
    config = SimpleNamespace(
        getini={"markers": list(registered), "reseller_sim_scenario": "", "reseller_sim_clock": "manual"}.get,
        rootpath=None,
    )

    def iter_markers(name: str | None = None) -> list[pytest.Mark]:
        return [mark.mark] if name in (None, mark.name) else []

    return SimpleNamespace(config=config, path=SimpleNamespace(parent=None), iter_markers=iter_markers)


@pytest.mark.parametrize("name", ["scenarios", "scenaro", "Scenario", "reseller_scenario"])
def test_a_misspelt_mark_is_refused(name: str) -> None:
    mark = pytest.MarkDecorator(pytest.Mark(name, ("bad-day",), {}, _ispytest=True), _ispytest=True)
    with pytest.raises(BadMark, match=f"there is no mark '{name}': did you mean @pytest.mark.scenario"):
        settings_of(item(mark))
    assert settings_of(item(mark, f"{name}: our own mark")).scenario is None


@pytest.mark.parametrize("name", ["sandbox", "async_sandbox", "sandbox_environment", "reseller_sim"])
def test_a_fixture_that_is_parametrized_is_refused(name: str) -> None:
    request: Any = SimpleNamespace(fixturename=name, param="bad-day")
    with pytest.raises(pytest.fail.Exception, match=f"the fixture {name} takes no parameter, such as 'bad-day'"):
        _refuse_parameter(request)
    del request.param
    _refuse_parameter(request)


@pytest.mark.parametrize("fixtures", [["reseller_sim"], ["reseller_sim", "sandbox"], []])
def test_a_mark_of_a_test_without_a_sandbox_is_refused(fixtures: list[str]) -> None:
    test: Any = SimpleNamespace(
        stash={WATCHED: SimpleNamespace()} if "sandbox" in fixtures else {},
        fixturenames=fixtures,
        own_markers=[pytest.Mark("scenario", ("bad-day",), {}, _ispytest=True)],
        config=SimpleNamespace(getoption=lambda _: False),
    )
    refused = pytest.raises(pytest.fail.Exception, match="scenario changes nothing in this test: use the fixture")
    with refused if fixtures == ["reseller_sim"] else nullcontext():
        pytest_runtest_call(test)
    test.own_markers.clear()
    pytest_runtest_call(test)


def test_the_clock_of_the_ini_file_is_checked() -> None:
    one = item(pytest.mark.skip)
    one.config.getini = {"markers": ["skip(reason): skip"], "reseller_sim_clock": "manul"}.get
    with pytest.raises(BadMark, match=r"reseller_sim_clock of the ini file: clock must .* did you mean 'manual'"):
        settings_of(one)


def test_a_tape_is_looked_for_beside_the_test_and_has_its_own_scenario(tmp_path: Path) -> None:
    mark = pytest.Mark("scenario", (), {"tape": "day.tape", "mark": "noon"}, _ispytest=True)
    one = item(pytest.MarkDecorator(mark, _ispytest=True))
    one.path.parent = one.config.rootpath = tmp_path
    one.config.getini = {"markers": [], "reseller_sim_scenario": "bad-day", "reseller_sim_clock": "manual"}.get
    with pytest.raises(BadMark, match=r"there is no file day\.tape; looked for"):
        settings_of(one)
    (tmp_path / "day.tape").touch()
    found = settings_of(one)
    assert (found.tape, found.mark, found.scenario) == ((tmp_path / "day.tape").resolve(), "noon", None)
