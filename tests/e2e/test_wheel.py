"""A wheel, installed where there is no checkout, serves the same."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

from simulator.scenario.library import names, text

ROOT = Path(__file__).parent.parent.parent
SHOW_ALL = """
import json
from simulator.contract.files import data_dir
from simulator.scenario.library import names, text
pages = {path.name: path.read_text("utf-8") for path in data_dir("docs").iterdir()}
print(json.dumps([{name: text(name) for name in names()}, pages]))
"""

USE = """
import reseller_sim
from pathlib import Path
print(reseller_sim.__file__)
print(Path(reseller_sim.__file__).with_name("py.typed").exists())
with reseller_sim.Simulator.start() as simulator, simulator.sandbox() as sandbox:
    print(sandbox.call("GET", "/v2/balance").status)
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
    scenarios, pages = json.loads(run([python, "-c", SHOW_ALL], tmp_path, **libraries))
    assert scenarios == {name: text(name) for name in names()}
    assert pages == {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
    contract = run([python, "-m", "simulator", "openapi", "--json"], tmp_path, **libraries)
    assert contract == run([sys.executable, "-m", "simulator", "openapi", "--json"], ROOT)
    call = [python, "-m", "simulator", "exec", "--clock", "manual", "--"]
    answer = run([*call, python, "-m", "simulator", "call", "GET", "/v2/balance"], tmp_path, **libraries)
    assert json.loads(answer) == {"data": {"balance": 5000, "currency": "MYR"}}
    _assert_tests_can_use_it(tmp_path, python, libraries["PYTHONPATH"])


def _assert_tests_can_use_it(tmp_path: Path, python: str, libraries: str) -> None:
    """In a project whose own package has the name of ours."""
    shadow = tmp_path / "project" / "simulator"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text("raise RuntimeError('this is the package of the project')\n")
    path = {"PYTHONPATH": os.pathsep.join([".", libraries])}
    used = run([python, "-c", USE], shadow.parent, **path).splitlines()
    assert used[0].startswith(str(tmp_path / "venv")), "it is the wheel's"
    assert used[1:] == ["True", "200"]
    command = str(tmp_path / "venv" / "bin" / "reseller-sim")
    assert "default" in run([command, "scenarios"], shadow.parent, **path)


@pytest.mark.slow
def test_a_source_distribution_has_both_packages(tmp_path: Path) -> None:
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)], tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        inside = {name.partition("/")[2] for name in files.getnames()}
    assert {"simulator/__init__.py", "reseller_sim/__init__.py", "reseller_sim/py.typed"} <= inside
