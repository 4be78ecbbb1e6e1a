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


def run(command: list[str], folder: Path, **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")} | more
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_a_wheel_in_an_empty_environment_serves_the_same(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    run(build, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], tmp_path)
    # The libraries come from here; the package itself only from the wheel.
    libraries = {"PYTHONPATH": sysconfig.get_path("purelib")}
    where = run([python, "-c", "import simulator; print(simulator.__file__)"], tmp_path, **libraries)
    assert str(tmp_path) in where
    for name in names():
        assert run([python, "-m", "simulator", "scenarios", "show", name], tmp_path, **libraries) == text(name)
    contract = run([python, "-m", "simulator", "openapi", "--json"], tmp_path, **libraries)
    assert contract == run([sys.executable, "-m", "simulator", "openapi", "--json"], ROOT)
    call = [python, "-m", "simulator", "exec", "--clock", "manual", "--"]
    answer = run([*call, python, "-m", "simulator", "call", "GET", "/v2/balance"], tmp_path, **libraries)
    assert json.loads(answer) == {"data": {"balance": 5000, "currency": "MYR"}}
