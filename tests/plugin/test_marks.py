"""What a mark says, without a run of pytest."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reseller_sim.pytest_sandbox import settings_of


def test_a_tape_is_looked_for_beside_the_test_and_has_its_own_scenario(tmp_path: Path) -> None:
    mark = pytest.Mark("scenario", (), {"tape": "day.tape", "mark": "noon"}, _ispytest=True)
    ini = {"reseller_sim_scenario": "bad-day", "reseller_sim_clock": "manual"}
    config = SimpleNamespace(getini=ini.get, rootpath=tmp_path)
    item: Any = SimpleNamespace(config=config, path=SimpleNamespace(parent=tmp_path), iter_markers=lambda: [mark])
    with pytest.raises(ValueError, match=r"there is no file day\.tape; looked for"):
        settings_of(item)
    (tmp_path / "day.tape").touch()
    assert settings_of(item) == {"tape": (tmp_path / "day.tape").resolve(), "mark": "noon", "clock": "manual"}
