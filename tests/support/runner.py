"""Verbs run in this process, with an environment of their own."""

import os
from pathlib import Path

from click.testing import CliRunner, Result

from simulator.cli.main import cli


def invoke(*arguments: str, body: bytes = b"", **variables: str) -> Result:
    """Run a verb; variables that a developer may have set for the simulator are not seen."""
    hidden: dict[str, str | None] = {name: None for name in os.environ if name.startswith("RESELLER_")}
    return CliRunner(env=hidden | variables).invoke(cli, arguments, prog_name="reseller-sim", input=body)


def refusal(result: Result, status: int) -> str:
    """The one line on stderr of a verb that ended with this exit code and printed nothing else."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr.strip()


def expect_accepted(path: Path, *facts: str) -> None:
    """Assert that `check` finds nothing but findings with the codes of `facts`, and each of these."""
    lines = invoke("check", str(path)).stdout.splitlines()
    found = [line for line in lines if line != f"{path}: ok"]
    codes = {line.split(" ")[1] for line in found}
    assert codes == set(facts), "\n".join([*lines, path.read_text("utf-8")])
