"""`reseller-sim replay`: rebuilds sandboxes from a tape, and says whether all is as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import values
from simulator.cli.flags import CannotStart, ServerFlags, going_on_flags, own_option, verb
from simulator.cli.output import echo, one_line

if TYPE_CHECKING:
    from simulator.replay.proof import Until
    from simulator.replay.reading import ReadTape


def _until(ctx: click.Context, param: click.Parameter, text: str | None) -> int | datetime | None:
    """A number of entries, or a time."""
    if text is None or (text.isascii() and text.isdigit() and len(text) < 10):
        return None if text is None else int(text)
    return values.time(ctx, param, text)


@verb("replay")
@click.argument("tape", metavar="TAPE", type=click.Path(path_type=Path))
@own_option(
    "--until",
    metavar="N|ISO",
    callback=_until,
    help="Stop behind the Nth entry, or before the first one that is later than this time of the sandbox.",
)
@own_option("--sandbox", "wanted", metavar="ID", help="The sandbox, of a file with the tapes of several.")
@own_option("--serve", is_flag=True, help="Then let the sandbox go on, and serve it.")
@going_on_flags
def command(tape: Path, until: int | datetime | None, wanted: str | None, serve: bool, **flags: Any) -> int:
    """Rebuild a sandbox from its tape, and say what differs.

    TAPE is a file of `exec --tape` or of the control API. Every input on it is played again, and each answer, callback,
    webhook and entry of the journal is compared with what the tape has, byte for byte. The exit code is 0 when all is
    the same, and 1 otherwise: the first difference is printed with both sides.

    With --serve the sandbox goes on where the tape ends, or at --until: its clock runs again if it ran, and attempts
    that were in flight are made once more. The other flags are those of `serve`.

    \b
    Examples:
      reseller-sim replay failed.tape
      reseller-sim replay failed.tape --until 40 --serve
      reseller-sim replay failed.tape --sandbox sb-1 --until 2026-11-21T12:00:05+08:00
    """
    from simulator.replay.proof import Until

    stop = Until(time=until) if isinstance(until, datetime) else Until(entries=until)
    tapes = _read(tape, wanted, is_one=serve or until is not None)
    with _playing(tape):
        if serve:
            return _serve(tapes[0], stop, flags)
        proved = [_is_proved(one, stop) for one in tapes]  # each of them, also behind one that differs
    return 0 if all(proved) else 1


@contextmanager
def _playing(path: Path) -> Iterator[None]:
    """What is on a tape and cannot be played was written by hand, or by another version."""
    from simulator.domain.errors import DomainError
    from simulator.scenario.reading.document import ScenarioError

    try:
        yield
    except ScenarioError as error:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {error.problems[0]}")) from None
    except DomainError as error:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {error.message}")) from None
    except (AssertionError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        text = f"it cannot be played ({type(error).__name__}: {error})"
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {text}; was it changed by hand?")) from None


def _read(path: Path, wanted: str | None, *, is_one: bool) -> "list[ReadTape]":
    """The tapes of a file, or the one of a sandbox."""
    from simulator.replay.reading import BadTape
    from simulator.replay.tape_file import read_file

    try:
        found = list(read_file(path))
    except OSError as error:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {error.strerror or error}")) from None
    except BadTape as bad:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {bad}")) from None
    named = [one.head.sandbox for one in found]
    chosen = [one for one in found if wanted in (None, one.head.sandbox)]
    if not chosen:
        hint = f"it has those of {', '.join(dict.fromkeys(named))}" if named else "it is empty"
        raise CannotStart(one_line(f"reseller-sim replay: {path} has no tape of {wanted or 'a sandbox'}; {hint}"))
    if is_one and len(chosen) > 1:
        if wanted is None and len(set(named)) > 1:
            text = f"{path} has the tapes of {', '.join(dict.fromkeys(named))}; choose one with --sandbox"
            raise CannotStart(one_line(f"reseller-sim replay: {text}"))
        return chosen[-1:]  # the latest life
    return chosen


def _is_proved(tape: "ReadTape", until: "Until") -> bool:
    """Replay a tape and print the result; whether all was as it is on the tape."""
    from simulator.api.again import Again
    from simulator.api.pipeline import Pipeline
    from simulator.api.routes import routes
    from simulator.cli.replayed import damage, difference, proved
    from simulator.replay.proof import prove
    from simulator.replay.rebuilding import nowhere

    proof = prove(tape, Again(Pipeline(routes())), nowhere(), until)
    proof.player.end()
    if proof.difference is not None:
        echo(difference(tape, proof.difference))
        return False
    echo(one_line(proved(tape, proof.player.place)))
    if tape.damage:
        echo(one_line(damage(tape)))
    return not tape.damage


def _serve(tape: "ReadTape", until: "Until", flags: dict[str, Any]) -> int:
    """Replay a tape and go on with the sandbox until the server is stopped."""
    from simulator.cli import banner
    from simulator.cli.process import exit_quietly_when_stopped, raise_file_limit
    from simulator.cli.replayed import difference, served
    from simulator.cli.running import Running, prepare
    from simulator.replay.continuing import go_on
    from simulator.replay.head import beginning_of
    from simulator.replay.proof import prove

    def on_ready(running: Running) -> None:
        echo(banner.page(running))
        echo(one_line(served(tape, proof.player.place, running.url)))

    exit_quietly_when_stopped()
    raise_file_limit()
    flags |= {"trust_forwarded": False, "sandbox_ttl": None, "scenarios": None, "callback": None}
    flags |= {"scenario": tape.head.name, "clock": None, "start": None, "seed": tape.head.seed}
    scenario = beginning_of(tape.head).spec.scenario
    running = prepare(ServerFlags(**flags), on_ready, scenario=scenario)
    proof = prove(tape, running.app.again, running.app.surroundings(), until)
    if proof.difference is not None:
        running.server.close()
        echo(difference(tape, proof.difference))
        return 1
    running.app.adopt(go_on(proof.player, running.app.wall))
    running.server.run()
    return 0
