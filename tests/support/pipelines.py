"""Plays composite actions of GitHub and jobs of GitLab in a folder: their shell steps are run, and others are noted."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.processes import DEADLINE_S, ROOT, Done, environment
from tests.support.programs import program

SHELL_OF_GITHUB = ("--noprofile", "--norc", "-eo", "pipefail")
INSTALLING = "Install reseller-sim"
_INSTALLS = (" -m venv ", " -m pip install ")
_EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


@dataclass
class Job:
    """A GitHub job on its own machine: the values that steps pass on, and the artifacts."""

    folder: Path
    python: str
    installed: Path | None = None  # the result of the installing step, if this step is to be skipped
    variables: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def use(self, action: Path, **inputs: str) -> Done:
        """Run the steps of an action. After a failed step only steps run that always run."""
        read = yaml.safe_load(action.read_text("utf-8"))
        known = {name: str(one.get("default", "")) for name, one in read["inputs"].items()}
        assert set(inputs) <= set(known)
        values = {f"inputs.{name}": text for name, text in (known | inputs).items()} | self._values(action)
        result = Done(0, "", "")
        for step in read["runs"]["steps"]:
            if step.get("name") == INSTALLING and self.installed is not None:
                assert result.status == 0
                self.path.insert(0, str(moved(self.installed, self.folder / "temp" / "reseller-sim") / "bin"))
            elif result.status == 0 or step.get("if") == "always()":
                result = self._step(step, values, result)
        return result

    def _values(self, action: Path) -> dict[str, str]:
        return {
            "github.action_path": str(action.parent),
            "github.workspace": str(self.folder / "workspace"),
            "runner.temp": str(self.folder / "temp"),
            "runner.os": "Linux",
            "runner.arch": "X64",
            "steps.python.outputs.python-path": self.python,
        }

    def _step(self, step: Mapping[str, Any], values: dict[str, str], before: Done) -> Done:
        if "uses" in step:
            self.used.append(step["uses"].partition("@")[0])
            if "cache" in step["uses"]:
                self.keys.append(filled(step["with"]["key"], values))
            if "upload-artifact" in step["uses"]:
                self.artifacts.append(filled(step["with"]["path"], values))
            return before
        assert not _EXPRESSION.search(step["run"]), "what a user gives is never part of a script"
        workspace = self.folder / "workspace"
        for name in (workspace, self.folder / "temp"):
            name.mkdir(exist_ok=True)
        files = {name: self.folder / name for name in ("GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        own = {name: filled(str(text), values) for name, text in step.get("env", {}).items()}
        given = self.variables | own | {name: str(file) for name, file in files.items()}
        given |= {"RUNNER_TEMP": str(self.folder / "temp"), "PATH": os.pathsep.join([*self.path, os.environ["PATH"]])}
        where = workspace / filled(step.get("working-directory", "."), values)
        done = _run([program("bash"), *SHELL_OF_GITHUB, str(script)], where, given, self.folder)
        self.path = [*files["GITHUB_PATH"].read_text().split(), *self.path]
        self.variables |= dict(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
        outputs = (line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        values |= {f"steps.{step['id']}.outputs.{name}": text for name, text in outputs}
        return done if done.status else Done(before.status, before.out + done.out, before.err + done.err)


def moved(environment: Path, to: Path) -> Path:
    """Copy a folder with a virtual environment, and correct the path in our command."""
    copy = Path(shutil.copytree(environment, to, symlinks=True))
    for command in copy.glob("**/bin/reseller-sim"):
        if not command.is_symlink():
            command.write_text(command.read_text().replace(str(environment), str(to)))
    return copy


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its expressions replaced."""
    return _EXPRESSION.sub(lambda found: values[found[1]], text)


def _run(command: list[str], folder: Path, variables: Mapping[str, str], output: Path) -> Done:
    """Run a command with its output in files, so that background processes can outlive it and keep writing."""
    out, err = output / "stdout", output / "stderr"
    with out.open("w") as written, err.open("w") as complained:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=complained,
            timeout=4 * DEADLINE_S,
            check=False,
        )
    return Done(ran.returncode, out.read_text(), err.read_text())


def gitlab_job(name: str) -> dict[str, Any]:
    """Return a job of the template merged with the jobs that it extends, as GitLab merges them."""
    read = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))
    job: dict[str, Any] = read[name]
    if parent := job.get("extends"):
        above = gitlab_job(parent)
        merged = {key: above[key] | job[key] for key in above.keys() & job.keys() if isinstance(job[key], dict)}
        return above | job | merged
    return job


def script_of(job: Mapping[str, Any]) -> str:
    """Return the script that a runner passes to a shell."""
    return "\n".join([*job.get("before_script", []), *job["script"]]) + "\n"


def run_gitlab(job: Mapping[str, Any], folder: Path, installed: Path | None = None, **variables: str) -> Done:
    """Run a job in an empty folder. A project's variables override the template's. The content of `installed` is not
    installed again."""
    folder.mkdir(exist_ok=True)
    if installed is not None:
        moved(installed, folder / ".cache" / "reseller-sim")
        before = [line for line in job["before_script"] if not any(part in line for part in _INSTALLS)]
        assert len(before) == len(job["before_script"]) - len(_INSTALLS)
        job = dict(job) | {"before_script": before}
    given = {name: str(text) for name, text in job.get("variables", {}).items()} | variables
    given |= {"CI_PROJECT_DIR": str(folder), "PIP_CACHE_DIR": str(folder / ".cache" / "pip")}
    (folder.parent / "job.sh").write_text(script_of(job))
    return _run([program("bash"), "-eo", "pipefail", str(folder.parent / "job.sh")], folder, given, folder.parent)
