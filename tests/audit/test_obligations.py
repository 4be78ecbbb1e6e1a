"""Each obligation of the audit: a client that sins is found, one that comes as near as it may is not."""

import pytest

from simulator.audit.obligations import ORDER, all_clauses
from simulator.audit.registry import CLAUSES
from tests.support.audited import PLAYED, judged, played

IDS = [clause.id for clause in all_clauses()]


@pytest.mark.parametrize("id_", IDS)
def test_a_client_that_sins_is_found(id_: str) -> None:
    with played(id_, sins=True) as client:
        found = judged(client, id_)
    assert found["state"] == "violated"
    assert found["findings"]
    assert found["evidence"]
    assert found["violations"] >= len(found["findings"])


@pytest.mark.parametrize("id_", IDS)
def test_a_client_that_does_not_sin_has_met_the_obligation(id_: str) -> None:
    with played(id_, sins=False) as client:
        found = judged(client, id_)
    assert found["state"] == "met", found["findings"]
    assert (found["evidence"], found["findings"], found["violations"]) == ([], [], 0)


def test_every_obligation_is_reported_and_played() -> None:
    assert sorted(IDS) == sorted(CLAUSES) == sorted(PLAYED)
    assert {clause.judge.__module__ for clause in all_clauses()} == {module.__name__ for module in ORDER}
    assert len(IDS) >= 25
