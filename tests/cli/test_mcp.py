"""`reseller-sim mcp` before it serves: snippets for hosts, and what keeps it from starting."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from simulator.cli.mcp import RANGE
from simulator.cli.verbs import VERBS
from tests.support.processes import ROOT, environment, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORT_VERBS = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(f"simulator.cli.{module}")
print([name for name in ("mcp", "pydantic") if name in sys.modules])
"""


def test_the_snippets_of_hosts_can_be_read() -> None:
    done = run(
        "mcp", "--config", "--url", "http://127.0.0.1:1", "--token", "secret-token-0123456789", "--allow-commands"
    )
    assert (done.status, done.err) == (0, "")
    assert "secret-token" not in done.out
    several, code, codex = done.out.split("\n\n")
    (entry,) = json.loads(several[several.index("{") :])["mcpServers"].values()
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "reseller_sim", "mcp", "--url", "http://127.0.0.1:1", "--allow-commands"]
    assert entry["env"] == {"RESELLER_SIM_TOKEN": "YOUR-TOKEN"}
    assert json.loads(code[code.index("{") :])["servers"]["reseller-sim"] == {"type": "stdio"} | entry
    assert tomllib.loads(codex)["mcp_servers"]["reseller-sim"] == entry


def test_a_scenario_in_a_file_is_named_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: default\n")
    done = run("mcp", "--config", "--scenario", str(tmp_path / "mine.yaml"))
    assert json.dumps(["-m", "reseller_sim", "mcp", "--scenario", str(tmp_path / "mine.yaml")]) in done.out
    assert '"--scenario", "bad-day"' in run("mcp", "--config", "--scenario", "bad-day").out


def test_a_scenario_and_a_running_simulator_exclude_each_other() -> None:
    done = run("mcp", "--scenario", "bad-day", "--url", "http://127.0.0.1:1")
    assert done.status == 2
    assert "give only one of these flags" in done.only_error_line


def test_a_scenario_that_does_not_load_is_reported_on_stderr() -> None:
    done = run("mcp", "--scenario", "bad-dey")
    assert (done.status, done.out) == (3, "")
    assert "did you mean 'bad-day'?" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("content", ["", "raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')"])
def test_without_the_package_one_line_says_how_to_install_it(tmp_path: Path, content: str) -> None:
    """Also where another module has its name, such as a folder of the user's project."""
    (tmp_path / "mcp.py").write_text(content)
    done = run("mcp", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.status == 3
    assert "No module named 'mcp" in done.only_error_line
    assert done.only_error_line.endswith(f"install it by: pip install '{RANGE}'")


@pytest.mark.parametrize("extra", ["mcp", "dev"])
def test_the_line_names_the_versions_of_the_extra(extra: str) -> None:
    assert RANGE in PROJECT["optional-dependencies"][extra]


def test_no_verb_imports_the_package_before_it_serves() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_VERBS, *{verb.module for verb in VERBS.values()}],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
