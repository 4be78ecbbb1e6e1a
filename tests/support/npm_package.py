"""clients/js as a project uses it: packed by npm, installed without a network into a separate folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.generated_clients import QUIET
from tests.support.processes import ROOT, environment
from tests.support.programs import NODE_COMMANDS, node_command, program

CLIENT = ROOT / "clients" / "js"
STEP_S = 120.0  # compiling takes seconds of processor time, on a machine that may be busy

# The installed packages that a project has in addition to our package.
BESIDE = (
    *("@types/node", "undici-types", "typescript", "vite", "vitest", "jest"),
    *("msw", "nock", "standardwebhooks", "svix", "undici"),
)


def ran(folder: Path, *command: str, status: int = 0, variables: Mapping[str, str] | None = None) -> str:
    """Return the output of a command, which has to exit with this status."""
    names = os.pathsep.join([str(NODE_COMMANDS), os.environ["PATH"]])
    command_of_ours = f"{sys.executable} -m simulator"
    ours = {"PATH": names, "PYTHONPATH": str(ROOT), "RESELLER_SIM_COMMAND": command_of_ours, "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**QUIET | ours | dict(variables or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP_S,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def install(folder: Path) -> None:
    """Pack the client from a copy of its sources, as `npm pack` does with its script, and install it into `project`."""
    for name in ("tsc", "vitest"):
        node_command(name)
    program("node")
    source, project = folder / "js", folder / "project"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (source / "node_modules").symlink_to(NODE_COMMANDS.parent)
    ran(source, "npm", "pack", "--pack-destination", str(folder))
    project.mkdir()
    for line in ("npm init -y", "npm pkg set type=module"):
        assert f"\n{line}\n" in (ROOT / "docs" / "javascript.md").read_text("utf-8")
        ran(project, *line.split())
    (package,) = folder.glob("*.tgz")
    ran(project, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", str(package))
    for name in BESIDE:
        beside = project / "node_modules" / name
        beside.parent.mkdir(exist_ok=True)
        beside.symlink_to(NODE_COMMANDS.parent / name)
    (project / "node_modules" / ".bin").mkdir(exist_ok=True)
    (project / "node_modules" / ".bin" / "vitest").symlink_to("../vitest/vitest.mjs")
    (project / "node_modules" / ".bin" / "jest").symlink_to("../jest/bin/jest.js")
    shutil.copytree(CLIENT / "test", project / "test")
    for name in ("tsconfig.json", "tsconfig.test.json"):
        shutil.copy(CLIENT / name, project)
