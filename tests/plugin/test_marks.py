"""A mark that is spelt almost like ours is refused, unless the project has registered it."""

from types import SimpleNamespace
from typing import Any

import pytest

from reseller_sim.pytest_marks import BadMark, settings_of


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


def test_the_clock_of_the_ini_file_is_checked() -> None:
    one = item(pytest.mark.skip)
    one.config.getini = {"markers": ["skip(reason): skip"], "reseller_sim_clock": "manul"}.get
    with pytest.raises(BadMark, match=r"reseller_sim_clock of the ini file: clock must .* did you mean 'manual'"):
        settings_of(one)
