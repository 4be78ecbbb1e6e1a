"""Removes the given secrets, and the secrets of former lives, from a tape, which can still be replayed.

Stand-ins replace the secrets in its inputs. Then the sandbox is rebuilt from these inputs, and its answers and
deliveries become the new tape: everything that depends on a secret, such as the signature of a webhook, is computed
from the stand-in. Clients' signatures cannot be recomputed, so a replay takes the verdict on them from the tape; its
head says so with `masked`.

This takes as long as the original inputs did, so it runs in steps, between which other work can run.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from time import monotonic
from typing import Any, Final

import msgspec

from simulator.persistence.replay.codec import written_line
from simulator.persistence.replay.head import MarkState, TakenTape, taken
from simulator.persistence.replay.player import Again, Player
from simulator.persistence.replay.proof import player_for
from simulator.persistence.replay.rebuilding import nowhere
from simulator.persistence.replay.state_digest import state_digest
from simulator.persistence.replay.tape_reader import ReadTape, read_tapes
from simulator.persistence.replay.tape_redaction import StandIns, TapeRedaction, TooManyStandIns, texts_in
from simulator.persistence.replay.tape_writer import tape_lines
from simulator.persistence.tape.entries import AttemptSent, CommandApplied, Entry, InboxProgrammed, plain
from simulator.runtime.journal import Exchange
from simulator.scenario.library import load_scenario

WORK_S_MAX: Final = 120
"""The time limit in seconds, without the time of other work."""

_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)


class CannotMask(Exception):
    """The tape cannot be redacted; the text says why."""


def lines_without_secrets(tape: TakenTape, again: Again) -> Iterator[bytes]:
    """Return the lines of a tape without secrets. Callable in a thread. Raises `CannotMask`."""
    return iter([line for line in lines_in_steps(tape, again) if line is not None])


def lines_in_steps(tape: TakenTape, again: Again) -> Iterator[bytes | None]:
    """Yield the lines of a tape without secrets; None where other work may run. Raises `CannotMask`."""
    steps = _lines(tape, again)
    spent_s = 0.0
    while True:
        begun = monotonic()
        try:
            step = next(steps)
        except StopIteration:
            return
        except (CannotMask, TooManyStandIns) as error:
            raise CannotMask(str(error)) from None
        except Exception as error:  # a secret is also a word of the scenario, or of the tape
            raise CannotMask(f"a secret of it is also something else ({type(error).__name__}: {error})") from None
        spent_s += monotonic() - begun
        if spent_s > WORK_S_MAX:
            raise CannotMask(f"it would take more than {WORK_S_MAX} s")
        yield step


def _lines(tape: TakenTape, again: Again) -> Iterator[bytes | None]:
    stand_ins = StandIns(published())
    names = {*player_for(tape.head, again, nowhere()).live.core.state.keys}
    for secret in (*tape.head.hidden, *tape.server):
        stand_ins.add(secret)
    for document in (tape.head.scenario, *filter(None, map(_document_of, tape.entries))):
        names |= {*texts_in(document, ("username", "key"))}
        for secret in texts_in(document):
            stand_ins.add(secret)
    redaction = TapeRedaction(stand_ins, names)
    masked: list[bytes] = []
    is_same = True
    for line in tape_lines(tape):
        for secret in tape.strangers.in_text(line):
            stand_ins.add(secret)
        before = _DECODER.decode(line)
        after = redaction.redacted(before)
        masked.append(line if after == before else written_line(after))
        is_same = is_same and after == before
        yield None
    if is_same:
        yield from masked
        return
    (read,) = read_tapes(masked)
    assert not read.damage, read.damage
    yield None
    yield from _played(read, tape, again)


@lru_cache(maxsize=1)
def published() -> frozenset[str]:
    """Return the secrets of the bundled scenario, which are public."""
    return frozenset(texts_in(load_scenario("default").document))


def _document_of(entry: Entry) -> Any:
    """Return the document that an entry sent to the control API."""
    if isinstance(entry, CommandApplied):
        return msgspec.to_builtins(entry.command, enc_hook=plain)
    return entry.document if isinstance(entry, InboxProgrammed) else None


def _played(masked: ReadTape, tape: TakenTape, again: Again) -> Iterator[bytes | None]:
    """Yield the lines that result from the masked inputs."""
    head = msgspec.structs.replace(masked.head, masked=True)
    player = player_for(head, again, nowhere())
    marks = _marks_here(player, tape)
    for entry in masked.entries:
        player.play(entry)
        marks += _marks_here(player, tape)
        yield None
    made = _taken(player)
    if _told(made.entries) != _told(masked.entries):
        raise CannotMask("a secret of it is also something else, such as an account: requests are answered otherwise")
    if _sent(made.entries) != _sent(masked.entries):
        raise CannotMask("a secret of it is also something else: other callbacks or webhooks are sent")
    whole, now = msgspec.structs.replace(head, entries=len(made.entries)), masked.end.now if masked.end else None
    due = None if tape.left_out else made.due
    state = made.state if tape.state else ""
    yield from tape_lines(
        TakenTape(whole, made.entries, tape.left_out, now, due, tape.ended, state=state, marks=tuple(marks))
    )


def _marks_here(player: Player, tape: TakenTape) -> list[MarkState]:
    """Return the marks at the player's place, with the digest of the state from the masked inputs."""
    here = [one for one in tape.marks if one.n == player.place]
    state = state_digest(player.live) if here else ""
    return [msgspec.structs.replace(one, state=state) for one in here]


def _taken(player: Player) -> TakenTape:
    player.end()
    return taken(player.live)


def _told(entries: Sequence[Entry]) -> list[tuple[Any, ...]]:
    """Return a summary of the answers to the requests on a tape, with their rules."""
    found = (getattr(one, "exchange", one) for one in entries)
    return [
        (one.n, one.status, one.error, one.rule, one.selected_rule, one.fault)
        for one in found
        if isinstance(one, Exchange) and one.n
    ]


def _sent(entries: Sequence[Entry]) -> list[tuple[str, int]]:
    """Return the attempts on a tape."""
    return [(one.job, one.attempt) for one in entries if isinstance(one, AttemptSent)]
