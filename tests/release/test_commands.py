"""Common parts of `make wheelhouse` and `make ranges`, and their refusals."""

import ast
import io
import ssl
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from release import commands, ranges, wheelhouse
from release.commands import SUPPORTED, THIS_PYTHON, CannotMake
from tests.support.environments import runtime_distributions


def test_a_failed_program_is_named_with_its_output() -> None:
    with pytest.raises(CannotMake, match=r"failed:\n.*no index"):
        commands.run(sys.executable, "-c", "import sys; sys.exit('no index')")
    with pytest.raises(CannotMake, match="no-such-program could not be run"):
        commands.run("/no-such-program")


@pytest.mark.parametrize(("cafile", "given", "told"), [("/ca.pem", "", "true"), (None, "", ""), ("/ca.pem", "0", "0")])
def test_uv_believes_the_authorities_of_the_system_where_it_has_some(
    cafile: str | None, given: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: SimpleNamespace(cafile=cafile))
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    if given:
        monkeypatch.setenv("UV_SYSTEM_CERTS", given)
    shown = commands.run(sys.executable, "-c", "import os; print(os.environ.get('UV_SYSTEM_CERTS', ''))")
    assert shown.strip() == told


@pytest.mark.slow
def test_the_pythons_of_a_machine_are_the_pythons_that_start() -> None:
    found = commands.pythons((*SUPPORTED, "3.2"))
    assert found[THIS_PYTHON] == sys.executable
    assert "3.2" not in found


def test_without_an_index_a_folder_of_wheels_says_so_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(*_: str) -> str:
        raise CannotMake("there is no index")

    monkeypatch.setattr(commands, "uv", none)
    assert wheelhouse.main(["--output", str(tmp_path / "made")]) == 1
    assert capsys.readouterr().err == "make wheelhouse: there is no index\n"
    assert not (tmp_path / "made").exists()


def test_a_folder_of_wheels_for_developers_has_what_makes_the_site(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def noted(_: str, *names: str) -> list[str]:
        asked[:] = names
        return []

    monkeypatch.setattr(wheelhouse, "requirements", noted)
    monkeypatch.setattr(wheelhouse, "run", lambda *_: "")
    monkeypatch.setattr(wheelhouse, "wheel", lambda folder: folder)
    assert wheelhouse.main(["--dev", "--output", str(tmp_path)]) == 0
    assert any(name.startswith("furo==") for name in asked)
    assert not any(name.startswith("#") for name in asked)
    assert wheelhouse.main(["--output", str(tmp_path)]) == 0
    assert not any(name.startswith(("furo", "pytest")) for name in asked)


BACKEND = """
def build_wheel(folder, settings=None, metadata=None):
    import os, zipfile
    name, info = "source_only-1.0-py3-none-any.whl", "source_only-1.0.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: source-only\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


def test_a_package_without_a_wheel_on_the_index_is_built_for_the_folder_of_wheels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND,
        "PKG-INFO": "Metadata-Version: 2.1\nName: source-only\nVersion: 1.0\n",
    }
    (tmp_path / "index").mkdir()
    with tarfile.open(tmp_path / "index" / "source_only-1.0.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"source_only-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setattr(wheelhouse, "requirements", lambda *_: ["source-only==1.0"])
    monkeypatch.setattr(wheelhouse, "wheel", lambda folder: folder)
    assert wheelhouse.main(["--dev", "--output", str(tmp_path / "made")]) == 0
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["source_only-1.0-py3-none-any.whl"]


def test_failed_ranges_and_ranges_that_did_not_run_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ranges, "pythons", lambda wanted: {"3.11": "python3.11"})
    monkeypatch.setattr(ranges, "tried", lambda version, program, end: (f"{end} tried", end == "newest"))
    assert ranges.main(["--python", "3.11", "--python", "3.14"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Python 3.11, lowest versions: lowest tried",
        "Python 3.11, newest versions: newest tried",
        "Python 3.14, lowest versions: not run, this Python is not installed",
        "Python 3.14, newest versions: not run, this Python is not installed",
    ]


def test_the_telling_part_of_the_suite_exists() -> None:
    root = commands.ROOT
    assert all((root / "tests" / name).is_dir() for name in ranges.TELLING)
    assert all((root / name).is_file() for name in ranges.ALSO)


OURS = ("simulator", "reseller_sim", "tests", "tools", "release", "bench", "campaign")


def imported(modules: set[Path]) -> set[str]:
    """Return the modules that these files import anywhere, including modules of the tests that they import."""
    read: set[Path] = set()
    found: set[str] = set()
    while waiting := modules - read:
        read |= waiting
        for node in (node for path in waiting for node in ast.walk(ast.parse(path.read_text("utf-8")))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
        ours = {commands.ROOT.joinpath(*name.split(".")) for name in found if name.startswith(("tests.", "tools."))}
        files = {path.with_suffix(".py") for path in ours} | {path / "__init__.py" for path in ours}
        modules = modules | {path for path in files if path.is_file()}
    return found


def modules_of(distributions: set[str]) -> set[str]:
    """The modules and packages that these distributions and what they need consist of, as they are installed here."""
    names = distributions.union(*map(runtime_distributions, distributions))
    found = {one for name in names for one in metadata.distributions(name=name)}
    paths = (path for one in found for path in one.files or () if path.suffix in (".py", ".so"))
    parts = ((*path.parts[:-1], path.name.partition(".")[0]) for path in paths)
    return {".".join(one[:length]) for one in parts for length in range(1, len(one) + 1)}


@pytest.mark.slow
def test_the_tests_of_a_telling_part_import_what_is_installed_for_them() -> None:
    """Else they cannot even be collected."""
    tests = commands.ROOT / "tests"
    files = {path for name in ranges.TELLING for path in (tests / name).rglob("*.py")}
    wanted = imported(files | {tests / "conftest.py"} | {commands.ROOT / name for name in ranges.ALSO})
    theirs = {name for name in wanted if name.partition(".")[0] not in {*sys.stdlib_module_names, *OURS}}
    assert {"pytest", "hypothesis"} <= theirs
    assert theirs - modules_of({*ranges.TOOLS, commands.PROJECT["name"]}) == set()


@pytest.mark.parametrize(("target", "there"), [("run", ()), ("test", (".ready",)), ("site", (".ready", ".dev-ready"))])
def test_make_says_on_one_line_what_to_do_without_an_index(target: str, there: tuple[str, ...], tmp_path: Path) -> None:
    """Each of the three installations of the Makefile, with a pip that reaches nothing."""
    site = str(wheelhouse.SITE_TOOLS.relative_to(commands.ROOT))
    for name in ("Makefile", "pyproject.toml", "constraints.txt", site):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((commands.ROOT / name).read_bytes())
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in there:
        (tmp_path / ".venv" / name).touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\necho pip says much, of which nobody reads this >&2\nexit 1\n")
    python.chmod(0o755)
    done = subprocess.run(
        ["make", target],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 2
    told, of_make = done.stderr.splitlines()
    assert told.startswith("no package index was reached, or it lacks something: run 'make wheelhouse")
    assert told.endswith("pip's own words are in .venv/pip.log")
    assert of_make.startswith("make: ***")
    assert "pip says much" in (tmp_path / ".venv" / "pip.log").read_text()
