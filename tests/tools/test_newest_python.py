"""`make newest-python`: the Python that it gets, and the groups of tests that pass on it."""

import os
import subprocess
from pathlib import Path

import pytest

from release.commands import SUPPORTED, CannotMake
from tests.support.processes import ROOT
from tests.support.shared_work import once
from tools import newest_python
from tools.newest_python import FOLDER, GROUPS, VERSION, environment, main, pytest_command, unpack

TIMEOUT_S = 900.0


def test_the_newest_python_is_the_last_that_is_supported_and_each_group_is_a_folder_of_tests() -> None:
    assert SUPPORTED[-1] == VERSION
    assert all((ROOT / "tests" / group).is_dir() for group in GROUPS)


def test_a_machine_without_the_tools_of_debian_learns_that_no_python_is_available(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(newest_python, "pythons", lambda _: {})
    monkeypatch.setattr(newest_python, "FOLDER", tmp_path / "newest")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert main(["auth"]) == 0
    assert capsys.readouterr().out == (
        f"not run on Python {VERSION}: python{VERSION} is not installed, and only Debian's tools could fetch it\n"
    )


def test_a_machine_without_a_debian_archive_in_apt_learns_that_no_python_is_available(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("shutil.which", str)
    monkeypatch.setattr(newest_python, "run", lambda *_: "")
    with pytest.raises(CannotMake, match="apt knows no archive of Debian"):
        unpack(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_the_tests_that_need_no_process_pass_on_the_newest_python(
    group: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def make(folder: Path) -> None:
        try:
            (folder / "python").write_text(environment(FOLDER))
        except CannotMake as error:
            (folder / "reason").write_text(str(error))

    made = once(tmp_path_factory, "newest-python", make)
    if (made / "reason").exists():
        pytest.skip((made / "reason").read_text())
    command = pytest_command((made / "python").read_text(), [group], workers=0)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
