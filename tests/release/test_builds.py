"""The wheel and the source distribution: the same bytes wherever and whenever they are built."""

import email
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from release.commands import SUPPORTED
from release.version import GIVEN, build_version
from tests.support.environments import built, copy_of_the_checkout, our_wheel, run

pytestmark = pytest.mark.slow

TYPED = """
from reseller_sim import Simulator
with Simulator.start() as simulator, simulator.sandbox() as sandbox:
    reveal_type(sandbox.call("GET", "/v2/balance").status)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return our_wheel(tmp_path_factory)


def test_a_wheel_is_the_same_from_another_place_at_another_time_and_from_the_source_distribution(
    wheel: Path, tmp_path: Path
) -> None:
    copy = copy_of_the_checkout(tmp_path / "copy")
    ours = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    for path in copy.rglob("*"):
        if path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))
            path.chmod(0o600)
    given = {GIVEN: wheel.name.split("-")[1]}  # the copy has no history
    again = built("wheel", copy, tmp_path / "again", **given)
    assert (again.name, again.read_bytes()) == (wheel.name, wheel.read_bytes())
    archive = built("sdist", copy, tmp_path / "sdist", **given)
    with tarfile.open(archive) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # which Python 3.11.2 does not have yet
        files.extractall(tmp_path / "unpacked")  # noqa: S202 - ours
        names = {name.partition("/")[2] for name in files.getnames()}
    (source,) = (tmp_path / "unpacked").iterdir()
    assert built("wheel", source, tmp_path / "from-sdist").read_bytes() == wheel.read_bytes()
    assert {name for name in names if name} - {"PKG-INFO"} == ours, (
        "all that a clone has, and nothing that was made in it"
    )


def test_a_wheel_says_what_it_is_and_what_it_runs_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (one for one in files.namelist() if one.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(files.read(name))
    urls = dict(line.split(", ", 1) for line in told.get_all("Project-URL", []))
    assert set(urls) == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert told["Requires-Python"] == ">=3.11"
    versions = [line.rpartition(" ")[2] for line in told.get_all("Classifier", []) if ":: Python :: 3." in line]
    assert tuple(versions) == SUPPORTED == ("3.11", "3.12", "3.13", "3.14")
    assert told["Version"] == build_version() == wheel.name.split("-")[1]


def test_a_type_checker_reads_the_types_of_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "site")  # noqa: S202 - our own
    (tmp_path / "uses.py").write_text(TYPED)
    flags = ["--strict", "--cache-dir", str(tmp_path / "cache"), "--config-file", os.devnull]
    said = run([sys.executable, "-m", "mypy", *flags, "uses.py"], tmp_path, MYPYPATH=str(tmp_path / "site"))
    assert 'Revealed type is "int"' in said.replace("builtins.", "")
