"""The Dockerfile, built by buildah, as podman builds it. The base image is an empty root with this machine mounted."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.processes import ROOT, environment
from tests.support.programs import program, required
from tools.containers.engine import BASE_FOLDERS, NAMED, SYSTEM_PATH, empty_root

pytestmark = [pytest.mark.slow, pytest.mark.needs("buildah", "wheelhouse")]

BASE = "docker.io/library/python:3.13-slim"
VERSION = "0.1.0.dev7+g1a2b3c4d"
BUILT_WITHIN_S = 300.0


class Buildah:
    """Runs buildah with a storage of its own, and mounts this machine's programs where it runs something."""

    def __init__(self, folder: Path) -> None:
        self._flags = ["--storage-driver", "vfs", "--root", str(folder / "root"), "--runroot", str(folder / "run")]
        tops = [Path("/", name) for name in BASE_FOLDERS]
        base = [path for path in tops if path.is_dir() and not path.is_symlink()] + [Path(sys.base_prefix)]
        self.mounts = [f"--volume={path}:{path}:ro" for path in base]
        self.mounts.append(f"--volume={ROOT / 'wheelhouse'}:/wheels:ro")

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [program("buildah"), *self._flags, *arguments],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=BUILT_WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def base(self, root: Path) -> None:
        """Make the base image."""
        container = self.run("from", "scratch")
        self.run("copy", container, str(empty_root(root, ("wheels",))), "/")
        variables = (f"PATH={sys.base_prefix}/bin:{SYSTEM_PATH}:{NAMED}", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/wheels")
        self.run("config", *(f"--env={one}" for one in variables), container)
        self.run("commit", "--quiet", "--rm", container, BASE)

    def command(self, image: str, words: Sequence[str]) -> str:
        """Return what a command prints in a container of an image."""
        container = self.run("from", "--pull-never", image)
        return self.run("run", "--isolation", "chroot", *self.mounts, container, "--", *words)


def test_buildah_builds_the_image_with_its_health_check_its_labels_and_its_version(tmp_path: Path) -> None:
    required("root", os.geteuid() == 0)
    required("wheelhouse", any((ROOT / "wheelhouse").glob("hatchling-*.whl")))
    buildah = Buildah(tmp_path)
    buildah.base(tmp_path / "base")
    arguments = [f"--build-arg={one}" for one in (f"VERSION={VERSION}", f"PYTHON={BASE}")]
    flags = ["--isolation", "chroot", "--pull-never", "--format", "docker", *arguments]
    buildah.run("bud", *flags, *buildah.mounts, "--tag", "reseller-sim", ".")
    config = json.loads(buildah.run("inspect", "--type", "image", "reseller-sim"))["Docker"]["config"]
    assert config["Healthcheck"]["Interval"] == 5_000_000_000
    assert "reseller-sim health" in config["Healthcheck"]["Test"][-1]
    assert (config["User"], config["Entrypoint"], config["Cmd"]) == ("10001:10001", ["reseller-sim"], ["serve"])
    labels = {name.rpartition(".")[2]: text for name, text in config["Labels"].items() if "opencontainers" in name}
    assert set(labels) == {"title", "description", "version", "licenses"}
    assert (labels["version"], labels["licenses"]) == (VERSION, "MIT")
    assert buildah.command("reseller-sim", ["reseller-sim", "--version"]) == f"reseller-sim {VERSION}"
