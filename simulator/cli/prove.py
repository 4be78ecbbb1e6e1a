"""`reseller-sim prove`: plays a finding of `explore` against a command, and says red, green or flaky."""

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.child import on_path
from simulator.cli.exec import WithCommand
from simulator.cli.flags import own_option
from simulator.cli.output import echo, one_line, print_table
from simulator.cli.usage import CannotStart, verb
from simulator.cli.values import Span, Whole

if TYPE_CHECKING:
    from simulator.explore.proof import Finding, Proof


TITLE = "reseller-sim prove"
TIMES = 3
TIMES_MAX = 100
EXIT_CODES = {"green": 0, "red": 1, "flaky": 2}
COLUMNS = ("command", "verdict", "failed", "why")


@verb("prove", cls=WithCommand)
@click.argument("finding", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@own_option("--times", metavar="N", type=Whole(1, TIMES_MAX), default=TIMES, show_default=True, help="Runs.")
@own_option("--timeout", metavar="DURATION", type=Span(0.1), help="End a run that takes longer: it hangs.")
@click.pass_context
def prove_command(ctx: click.Context, /, finding: Path, times: int, timeout: float | None) -> int:
    """Play a finding of explore against a command.

    Runs COMMAND once without the finding's faults, which it has to survive, and then --times times with them. Prints
    green when it survives each run, red when it fails each time, else flaky. The exit code is 0 for green, 1 for red, 2
    for flaky and for wrong usage, 3 when COMMAND fails without any fault or cannot be run.

    \b
    Examples:
      reseller-sim prove explored/01-callback.yaml -- npm test
      reseller-sim prove explored/01-callback.yaml --times 10 -- python shop.py
    """
    proof = proven(finding, ctx.obj, times, timeout)
    echo(one_line(f"{proof.colour}: {', '.join(filter(None, (_failed(proof), _why(proof))))}"))
    return EXIT_CODES[proof.colour]


def compare(finding: Path, before: str, after: str, timeout: float | None) -> int:
    """Play a finding against a command before and after a change; print both. Return 0 for red, then green."""
    commands = {"before": shlex.split(before), "after": shlex.split(after)}
    proofs = {name: proven(finding, words, TIMES, timeout) for name, words in commands.items()}
    print_table(COLUMNS, [(name, str(proof.colour), _failed(proof), _why(proof)) for name, proof in proofs.items()])
    return 0 if [str(proof.colour) for proof in proofs.values()] == ["red", "green"] else 1


def proven(path: Path, words: list[str], times: int, timeout_s: float | None) -> "Proof":
    """Play the finding. Raises `CannotStart`."""
    from simulator.explore.proof import read_finding
    from simulator.explore.trials import BaselineFails
    from simulator.explore.workers import CannotRun

    try:
        finding = read_finding(path)
        with on_path():
            return _proven(finding, words, times, timeout_s)
    except CannotRun as error:
        raise CannotStart(one_line(f"{TITLE}: {error}")) from None
    except BaselineFails as error:
        raise CannotStart(f"{TITLE}: COMMAND fails without any fault: {error}") from None
    except OSError as error:
        raise CannotStart(one_line(f"{TITLE}: {path}: {error.strerror or error}")) from None


def _proven(finding: "Finding", words: list[str], times: int, timeout_s: float | None) -> "Proof":
    from simulator.explore.proof import prove
    from simulator.explore.run import Setting
    from simulator.explore.workers import Workers
    from simulator.options import LOOPBACK, Options

    def show(number: int, found: tuple[Any, ...]) -> None:
        why = "; ".join(one.text for one in found) if found else "survived"
        echo(one_line(f"run {number} of {times}: {why}"))

    with tempfile.TemporaryDirectory(prefix="reseller-sim-") as folder:
        setting = Setting(tuple(words), Options(), LOOPBACK, 0, Path(folder))
        with Workers(setting, 1) as workers:
            return prove(workers, finding, times, timeout_s, show)


def _failed(proof: "Proof") -> str:
    return f"{proof.failed} of {proof.runs} failed"


def _why(proof: "Proof") -> str:
    return ", ".join(dict.fromkeys(reason.words for reason in proof.reasons))
