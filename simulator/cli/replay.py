"""`reseller-sim replay`: rebuilds sandboxes from a tape and reports differences."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from simulator import __version__
from simulator.api.request_replayer import RequestReplayer
from simulator.cli import banner, values
from simulator.cli.flags import own_option
from simulator.cli.output import echo
from simulator.cli.process import exit_quietly_when_stopped, raise_file_limit
from simulator.cli.server import BoundServer, prepare
from simulator.cli.server_flags import ServerFlags, going_on_flags
from simulator.cli.tape_file import (
    ANEW,
    EMPTY,
    TapeFile,
    TapeLife,
    difference_lines,
    entries_of,
    entry_lines,
    proof_line,
    read_tape_file,
)
from simulator.cli.usage import BadResult, notify, verb, wrong_usage
from simulator.cli.values import Integer
from simulator.domain.errors import DomainError
from simulator.domain.model.instants import Times, times_of
from simulator.persistence.replay.rebuilding import compiler_for, leave_tape, nowhere, prove
from simulator.persistence.replay.tape_writer import beginning_of
from simulator.scenario.reading.nodes import ScenarioError
from simulator.short_text import whole_line

Until = int | Times | None
UNPLAYABLE = (AssertionError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def _until(text: str) -> Until:
    """Return a number of entries, or a time."""
    if (number := values.number_of(text)) is not None:
        return number
    try:
        return times_of(text)
    except ValueError:
        what = "a number of entries from 0, or an ISO time of 1990 to 2200 with its offset: 2026-11-21T12:00:05+08:00"
        raise ValueError(f"{values.shown(text)} is not {what}") from None


@verb("replay", "failed.tape --list | grep order-1", "failed.tape --until 40 --serve")
@click.argument("tape", metavar="TAPE", type=click.Path(path_type=Path))
@own_option(
    "--until",
    metavar="N|ISO",
    parse=_until,
    help="Stop after the Nth entry, or before the first entry after this time of the sandbox.",
)
@own_option("--sandbox", "wanted", metavar="ID", help="The sandbox, for a file with several tapes.")
@own_option(
    "--life",
    type=Integer(1),
    help="The Nth life of a sandbox that was reset, rewound or recreated.  [default: all of them; the last life with "
    "--until or --serve]",
)
@own_option(
    "--list", "lists", is_flag=True, help="Play nothing: print the entries, each with its number and time for --until."
)
@own_option("--serve", is_flag=True, help="Serve the sandbox afterwards.")
@going_on_flags
def replay_command(
    tape: Path, until: Until, wanted: str | None, life: int | None, lists: bool, serve: bool, **flags: Any
) -> int:
    """TAPE is a file of `exec --tape` or of the control API. The verb plays every input, and compares each answer,
    callback, webhook and journal entry with the tape, byte for byte. With --serve, it serves the sandbox afterwards;
    the other flags are as for `serve`. Exit code 1 means that something differs or the file is incomplete, 3 that the
    file cannot be read, or has no such sandbox, life or moment.
    """
    if lists and (serve or until is not None):
        raise wrong_usage("--list excludes --until and --serve")
    file = read_tape_file(tape)
    if not file.lives and file.is_cut:
        raise BadResult(file.refusal(file.damage_behind(None)).text)
    if not file.lives:
        raise file.refusal(file.damage_behind(None) or EMPTY)
    chosen = file.chosen(wanted, life, is_one=serve or until is not None)
    if serve:
        return _serve(file, chosen[0], until, flags)
    if lists:
        results = []
        for line in (line for one in chosen for line in entry_lines(one)):
            echo(line)
    else:
        results = [_replay(file, one, until) for one in chosen]  # all of them, also after a difference
    is_whole = until is not None or _is_whole(file, chosen, wants_all=wanted is None and life is None)
    return 0 if all(results) and is_whole else 1


def _is_whole(file: TapeFile, played: list[TapeLife], *, wants_all: bool) -> bool:
    """Return whether the file has all of what was to be played; what is missing is printed. Raises `CannotStart` when
    there is something that cannot be understood."""
    damaged = next((life for life in played if life.tape.damage), None)
    if not file.damage or (damaged is None and not wants_all):
        return True
    text = file.damage_behind(damaged, len(damaged.tape.entries) if damaged is not None else 0)
    if not file.is_cut:
        raise file.refusal(text)
    echo(whole_line(f"{file.path}: {text}"))
    return False


@contextmanager
def _playing(file: TapeFile, life: TapeLife) -> Iterator[None]:
    """Raise `CannotStart` for a tape that cannot be played, because it was written by hand or by another version."""
    try:
        yield
    except (ScenarioError, DomainError, *UNPLAYABLE) as error:
        version = life.tape.head.version
        do = ANEW if version == __version__ else f"reseller-sim {version} wrote this tape: replay it with that version"
        why = error.problems[0] if isinstance(error, ScenarioError) else error
        raise file.refusal(f"{life}: it cannot be played ({type(error).__name__}: {why}): {do}") from None


def _replay(file: TapeFile, life: TapeLife, until: Until) -> bool:
    """Replay a tape and print the result. Return whether the replay agrees with the tape."""
    end = file.end_of(life, until)
    with _playing(file, life):
        proof = prove(life.tape, RequestReplayer(), nowhere(), end and end.n)
        proof.player.end()
    if proof.difference is not None:
        echo(difference_lines(life, proof.difference))
        return False
    echo(whole_line(proof_line(life, proof.player.place)))
    return True


def _serve(file: TapeFile, life: TapeLife, until: Until, flags: dict[str, Any]) -> int:
    """Replay a tape and serve the sandbox until the server is stopped."""

    def on_ready(running: BoundServer) -> None:
        where = running.url if head.sandbox == "default" else f"{running.url}/s/{head.sandbox}"
        played = entries_of(proof.player.place, len(life.tape.entries))
        running.announce(f"{banner.page(running)}\n{whole_line(f'{life} continues after {played} at {where}')}")

    end, head = file.end_of(life, until), life.tape.head
    if until is None and life.tape.damage and not life.tape.is_cut:
        raise file.refusal(file.damage_behind(life, len(life.tape.entries)))
    exit_quietly_when_stopped()
    raise_file_limit()
    with _playing(file, life):
        compiler = compiler_for(head)
        scenario = beginning_of(head, compiler).spec.scenario
        running = prepare(ServerFlags(head.name, seed=head.seed, **flags), on_ready, scenario=scenario)
        proof = prove(life.tape, running.app.replayer, running.app.sandboxes.surroundings, end and end.n, compiler)
    if proof.difference is not None:
        running.server.close()
        echo(difference_lines(life, proof.difference))
        return 1
    if until is None and life.tape.damage:
        notify(f"{file.path}: {file.damage_behind(life)}")
    with _playing(file, life):
        live = proof.player.live
        live.run_on_clock(leave_tape(proof.player, running.app.wall, end and end.at))
        running.app.sandboxes.adopt(live)
    running.server.run()
    return 3 if running.failures else 0
