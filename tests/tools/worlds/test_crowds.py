"""Crowds in a folder: every answer survives a kill amid concurrent rewinds, forks, resets and snapshots."""

import logging

import pytest

from tools.worlds.crowd import crowd, problems_of
from tools.worlds.defects import Defect, with_defect

SEEDS = 40
ROUNDS = 12

DEFECTS = (
    Defect("the beginning of a fork is not announced to the gate", "persistence.writer:Writer.begin_life",
           'self.write(_GARBAGE, ("entries", *entry_keys(life.key), False))',
           'self._statements.append((_GARBAGE, ("entries", *entry_keys(life.key), False)))'),
    Defect("what a rewound or forked tape begins with is not on disk", "persistence.keeper:StoreKeeper.begin",
           "for entry in collected.entries:", "for entry in []:"),
    Defect("the life that a rewind ended is still there", "persistence.writer:Writer.activate_life",
           "self.forget(life.sandbox)", "pass"),
    Defect("the marks of a fork are not on disk", "persistence.keeper:StoreKeeper.begin",
           "for mark in live.marks:", "for mark in []:", seed=9),
)  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_replaces_a_part_of_a_function(defect: Defect) -> None:
    with with_defect(defect):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_every_answer_to_a_crowd_survives_a_kill(first: int) -> None:
    for seed in range(first, first + 10):
        assert not (problems := problems_of(seed, ROUNDS)), f"seed {seed}: {problems[:5]}"


@pytest.mark.slow
def test_a_crowd_does_all_that_may_meet() -> None:
    counts: dict[str, int] = {}
    for seed in range(12):
        with crowd(seed) as made:
            for _ in range(ROUNDS):
                made.round()
        for name, times in made.counts.items():
            counts[name] = counts.get(name, 0) + times
    for what in (
        "rewind 200",
        "rewind 409",
        "fork 201",
        "fork 404",
        "mark 201",
        "reset 200",
        "delete 204",
        "snapshots",
    ):
        assert counts.get(what), f"{what}: {counts}"


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_deliberate_defect_is_found_by_a_crowd(defect: Defect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    with with_defect(defect):
        assert any(problems_of(seed, ROUNDS) for seed in (defect.seed, *range(SEEDS))), "no seed found it"
