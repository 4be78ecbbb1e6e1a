"""reseller-sim.pyz: one file that runs by itself, starts beside itself, and says why it does not."""

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from release import pyz
from release.commands import THIS_PYTHON
from release.pyz_main import INDEX
from tests.support.environments import link_libraries, our_wheel
from tests.support.processes import DEADLINE_S, ROOT, Done, environment

pytestmark = pytest.mark.slow

BALANCE = '{"data":{"balance":5000,"currency":"MYR"}}'


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of the libraries that are installed here."""
    folder = tmp_path_factory.mktemp("pyz")
    site = link_libraries(folder / "site")
    with zipfile.ZipFile(our_wheel(tmp_path_factory)) as files:
        files.extractall(site)
    return pyz.make(folder / "reseller-sim.pyz", {THIS_PYTHON: site})


def run(archive: Path, cache: Path, *arguments: str, python: str = sys.executable) -> Done:
    done = subprocess.run(
        [python, "-I", "-S", str(archive), *arguments],
        cwd=cache.parent,
        env=environment(XDG_CACHE_HOME=str(cache)),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_one_file_runs_a_client_against_a_simulator(archive: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    client = [sys.executable, "-I", "-S", str(archive), "call", "GET", "/v2/balance"]
    done = run(archive, cache, "exec", "--clock", "manual", "--", *client)
    assert (done.status, done.out.strip()) == (0, BALANCE), done.err
    (unpacked,) = (cache / "reseller-sim").iterdir()
    assert unpacked.name.endswith(f"-{THIS_PYTHON}")
    (unpacked / "mark").touch()
    assert run(archive, cache, "--version").status == 0
    assert (unpacked / "mark").exists(), "it unpacks once"


def test_it_is_started_many_times_at_once_before_it_is_unpacked(archive: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: run(archive, cache, "--version"), range(4)))
    assert [(one.status, one.err) for one in done] == [(0, "")] * 4
    assert len(list((cache / "reseller-sim").iterdir())) == 1


def test_the_same_files_give_the_same_bytes_and_are_kept_once(tmp_path: Path) -> None:
    for python, own in (("3.11", b"one"), ("3.12", b"two")):
        (tmp_path / python / "of").mkdir(parents=True)
        (tmp_path / python / "of" / "both.py").write_bytes(b"same")
        (tmp_path / python / "own.so").write_bytes(own)
        (tmp_path / python / "left.c").write_bytes(b"source")
    folders = {python: tmp_path / python for python in ("3.11", "3.12")}
    first = pyz.make(tmp_path / "first.pyz", folders)
    assert first.read_bytes() == pyz.make(tmp_path / "second.pyz", folders).read_bytes()
    assert first.read_bytes().startswith(b"#!/usr/bin/env python3\n")
    assert os.access(first, os.X_OK)
    with zipfile.ZipFile(first) as files:
        assert set(files.namelist()) == {"common/of/both.py", "3.11/own.so", "3.12/own.so", INDEX, "__main__.py"}


def test_where_and_when_it_was_installed_changes_no_byte(tmp_path: Path) -> None:
    """As uv notes it beside each distribution."""
    made = []
    for folder in ("here", "there"):
        own = tmp_path / folder / "ours-1.dist-info"
        own.mkdir(parents=True)
        for name in ("METADATA", "RECORD", "direct_url.json", "uv_cache.json"):
            (own / name).write_text("same" if name == "METADATA" else folder)
        made.append(pyz.make(tmp_path / f"{folder}.pyz", {THIS_PYTHON: tmp_path / folder}).read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(tmp_path / "here.pyz") as files:
        assert "common/ours-1.dist-info/METADATA" in files.namelist()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pythons": ["3.9", "3.10"]}, f"needs Python 3.9 or 3.10, and this is {THIS_PYTHON}"),
        ({"platform": "win-arm64"}, "was made for CPython on win-arm64; make one here"),
    ],
)
def test_a_machine_that_it_was_not_made_for_is_told_so(change: dict[str, object], reason: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    made = pyz.make(tmp_path / "made.pyz", {THIS_PYTHON: tmp_path / "site"})
    with zipfile.ZipFile(made) as files:
        parts = {name: files.read(name) for name in files.namelist()}
    parts[INDEX] = json.dumps(json.loads(parts[INDEX]) | change).encode()
    changed = tmp_path / "changed.pyz"
    pyz._write(changed, parts)
    done = run(changed, tmp_path / "cache", "--version")
    assert (done.status, done.only_error_line) == (3, f"reseller-sim.pyz {reason}")


def test_a_cache_that_cannot_be_written_is_named(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    done = run(archive, tmp_path / "cache", "--version")
    assert done.status == 3
    assert f"cannot unpack into {tmp_path / 'cache'}/reseller-sim: " in done.only_error_line
    assert "set XDG_CACHE_HOME to a folder" in done.only_error_line


def test_it_runs_nothing_that_others_may_have_changed(archive: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(archive, cache, "--version").status == 0
    (unpacked,) = (cache / "reseller-sim").iterdir()
    for folder in (unpacked, unpacked.parent):
        folder.chmod(0o777)
        done = run(archive, cache, "--version")
        assert (done.status, done.out) == (3, "")
        assert f"does not run what others may have changed: {folder}; set XDG_CACHE_HOME" in done.only_error_line
        folder.chmod(0o700)
    assert run(archive, cache, "--version").status == 0


def test_a_folder_that_is_not_named_whole_is_none_to_unpack_into(archive: Path, tmp_path: Path) -> None:
    """Without a home it had made one of the name `~` here."""
    command = [sys.executable, "-I", "-S", str(archive), "--version"]
    env = environment(XDG_CACHE_HOME="cache", HOME="~")
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "finds no home of this user: set XDG_CACHE_HOME to a folder of yours, by its whole path" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_one_file_runs_finds_the_command(archive: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, archive.name, "exec", "--", "sh", "-c", "cd / && reseller-sim call GET /v2/balance"],
        cwd=archive.parent,
        env=environment(XDG_CACHE_HOME=str(tmp_path / "cache"), PATH="/usr/bin:/bin"),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, BALANCE), done.stderr


def test_any_python_can_read_why_it_is_too_old() -> None:
    """What Python 2.7 has no syntax for would be told with a stack trace."""
    read = list(ast.walk(ast.parse((ROOT / "release" / "pyz_main.py").read_text("ascii"))))
    annotated = [one for one in read if getattr(one, "annotation", None) or getattr(one, "returns", None)]
    assert annotated == []
    newer = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Nonlocal, ast.Starred, ast.Match)
    assert [one for one in read if isinstance(one, newer)] == []
    assert [one for one in read if isinstance(one, ast.arguments) and (one.kwonlyargs or one.posonlyargs)] == []


@pytest.mark.parametrize("in_its_folder", [False, True])
def test_the_banner_of_one_file_tells_a_command_that_can_be_pasted(
    in_its_folder: bool, archive: Path, tmp_path: Path
) -> None:
    copied = Path(shutil.copy(archive, tmp_path / "sim.pyz"))
    name, told = (copied.name, f"./{copied.name}") if in_its_folder else (str(copied), str(copied))
    served = subprocess.Popen(
        [sys.executable, name, "serve", "--port", "0"],
        cwd=tmp_path,
        env=environment(XDG_CACHE_HOME=str(tmp_path / "cache"), PATH="/usr/bin:/bin"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert served.stdout is not None
    with served:
        line = next(line for line in served.stdout if " inbox " in line)
        served.terminate()
    assert line.strip().startswith(f"{told} inbox ")
