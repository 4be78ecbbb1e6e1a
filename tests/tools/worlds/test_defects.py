"""The worlds find each deliberate defect with some seed of the suite."""

import gc
import logging

import pytest

from tools.worlds.defects import DEFECTS, Defect, with_defect
from tools.worlds.report import failure_of

SEEDS_MAX = 150  # of the 500 that the suite tries
STEPS = 500


def test_there_are_enough_defects_each_with_a_name_of_its_own() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) >= 25
    assert all(defect.seed < SEEDS_MAX for defect in DEFECTS)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_replaces_a_part_of_a_function(defect: Defect) -> None:
    """After a change of the function, adapt the defect."""
    with with_defect(defect):
        pass


def test_a_short_world_shows_a_deliberate_defect() -> None:
    defect = next(one for one in DEFECTS if one.name == "a payment that fails at once is refunded twice")
    with with_defect(defect):
        assert failure_of(defect.seed, 100) is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")  # of a world that ended in the middle
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_deliberate_defect_is_found(defect: Defect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    with with_defect(defect):
        seeds = (defect.seed, *range(SEEDS_MAX))
        assert any(failure_of(seed, STEPS) is not None for seed in seeds), "no seed found it"
    gc.collect()  # else a later test reports what this world leaves
