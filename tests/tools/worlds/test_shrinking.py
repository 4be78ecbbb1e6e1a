"""How a failing sequence of steps is made short, and what is said of it."""

from pathlib import Path

import pytest

from simulator.app import build_app
from simulator.options import Options
from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_reader import read_file
from tests.support.replaying import play
from tools.worlds import report
from tools.worlds.defects import DEFECTS, with_defect
from tools.worlds.report import explained, failure_of
from tools.worlds.runs import Broken
from tools.worlds.shrinking import shortest


@pytest.mark.parametrize(
    "needed",
    [{7}, {0}, {99}, {3, 50}, {0, 99}, {10, 11, 12}, {1, 20, 40, 60, 80}],
    ids=lambda needed: str(sorted(needed)),
)
def test_only_the_steps_that_are_needed_are_left(needed: set[int]) -> None:
    assert shortest(range(100), lambda some: needed <= set(some)) == (sorted(needed), True)


def test_it_ends_after_so_many_trials() -> None:
    trials: list[int] = []

    def fails(some: list[int]) -> bool:
        trials.append(len(some))
        return len(some) > 90

    left, is_certain = shortest(range(100), fails, trials_max=30)
    assert len(left) >= 91
    assert len(trials) == 30
    assert not is_certain


@pytest.mark.slow
def test_a_report_says_when_fewer_steps_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    defect = next(one for one in DEFECTS if one.name == "a retry after a time-out is forgotten")
    with with_defect(defect):
        seed = next(seed for seed in range(10) if failure_of(seed, 200))
        broken = failure_of(seed, 200)
        assert broken is not None
        monkeypatch.setattr(f"{report.__name__}.shortest", lambda steps, fails: shortest(steps, fails, trials_max=3))
        text = explained(seed, 200, broken)
        assert "suffice, and perhaps fewer: it was tried for as long as there is time, and fail" in text


def test_a_report_says_that_a_failure_does_not_come_again() -> None:
    assert "but not again" in explained(1, 5, Broken(3, ["something was wrong"]))


@pytest.mark.slow
def test_a_failure_is_reported_with_the_shortest_steps_that_fail() -> None:
    defect = next(one for one in DEFECTS if one.name == "a retry after a time-out is forgotten")
    with with_defect(defect):
        seed = next(seed for seed in range(10) if failure_of(seed, 200))
        broken = failure_of(seed, 200)
        assert broken is not None
        text = explained(seed, 200, broken)
    assert f"seed {seed} of 200 steps fails" in text
    assert "on the agenda or in the air" in text
    assert text.count("\n    ") <= 12
    assert f"--first {seed} --seeds 1 --steps 200" in text


@pytest.mark.slow
def test_a_failure_is_reported_with_a_tape_that_replays(tmp_path: Path) -> None:
    defect = next(one for one in DEFECTS if one.name == "a deposit is lost when the same was deposited before")
    with with_defect(defect):
        seed = next(seed for seed in range(20) if failure_of(seed, 200))
        broken = failure_of(seed, 200)
        assert broken is not None
        text = explained(seed, 200, broken)
        _, _, tape = text.partition("its tape, for `reseller-sim replay FILE`:\n")
        path = tmp_path / "seed.tape"
        path.write_text(tape[: tape.rindex("}\n") + 2])
        tapes = list(read_file(path))
        assert {"default"} <= {one.head.sandbox for one in tapes}
        for one in tapes:
            assert not one.damage
            player = player_for(one.head, build_app(Options()).replayer, nowhere())
            assert play(player, one.entries) is None
