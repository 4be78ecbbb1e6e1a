"""A wheel, installed where there is no checkout, serves the same."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from simulator.scenario.library import names, text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SHOW_ALL = """
import json
from simulator.scenario.library import names, text
print(json.dumps({name: text(name) for name in names()}))
"""


def run(command: list[str], folder: Path, **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")} | more
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_a_wheel_in_an_empty_environment_serves_the_same(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    run(build, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv")
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python]
    run([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)], tmp_path)
    # The libraries come from here; the package itself only from the wheel.
    libraries = {"PYTHONPATH": sysconfig.get_path("purelib")}
    where = run([python, "-c", "import simulator; print(simulator.__file__)"], tmp_path, **libraries)
    assert str(tmp_path) in where
    show = [python, "-m", "simulator", "scenarios", "show"]
    assert run([*show, "default"], tmp_path, **libraries) == text("default")
    shown = json.loads(run([python, "-c", SHOW_ALL], tmp_path, **libraries))
    assert shown == {name: text(name) for name in names()}
    contract = run([python, "-m", "simulator", "openapi", "--json"], tmp_path, **libraries)
    assert contract == run([sys.executable, "-m", "simulator", "openapi", "--json"], ROOT)
    call = [python, "-m", "simulator", "exec", "--clock", "manual", "--"]
    answer = run([*call, python, "-m", "simulator", "call", "GET", "/v2/balance"], tmp_path, **libraries)
    assert json.loads(answer) == {"data": {"balance": 5000, "currency": "MYR"}}
