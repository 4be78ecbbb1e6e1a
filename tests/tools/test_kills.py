"""Servers with a data folder, killed and stopped under load: every answer survives, and sandboxes resume."""

import asyncio
import re
from pathlib import Path

import pytest

from tools.kills.burst import CALLBACKS, Burst
from tools.kills.defects import program
from tools.kills.episode import Episode

pytestmark = pytest.mark.slow


def test_every_answer_of_ten_servers_survives_their_kill_and_they_resume(tmp_path: Path) -> None:
    """`make campaign-kill` kills 200."""
    episode = Episode(1, tmp_path)
    asyncio.run(episode.run(kills=10))
    assert not episode.complaints
    assert episode.counts["kills"] == 10
    for what in ("payments answered", "nonces"):
        assert episode.counts[what], f"{what}: {episode.counts}"
    # Each of these depends on when a kill falls, or on what clients draw; hardly ever three are missing.
    by_chance = (
        "kills while it starts",
        "left without an answer",
        "attempts cut short",
        "rewinds",
        "forks",
        "snapshots left",
    )
    assert sum(episode.counts[what] > 0 for what in by_chance) >= 4, episode.counts


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_server_that_is_stopped_under_load_drops_nothing_that_it_accepted(durability: str, tmp_path: Path) -> None:
    """Each request was answered or left no trace, and what was due then happens later."""
    episode = Episode(1, tmp_path, durability=durability)
    asyncio.run(episode.run(kills=0, stops=3))
    assert not episode.complaints
    assert episode.counts["stops"] == 3
    assert episode.counts["payments answered"] == episode.counts["payments"] > 0


@pytest.mark.parametrize(
    ("defect", "moment", "complaint"),
    [
        ("answers_do_not_wait", "answer", "is not there|the statement has|there never was|the store has no sandbox"),
        ("callbacks_do_not_wait", "quiet", "of which the server knows"),
        (
            "interrupted_attempts_are_forgotten",
            "callback",
            "of which the server knows|the receiver answered|differs when it is",
        ),
        ("rewinds_are_not_written", "answer", "trip lacks|'trip' cannot be|trip.rewind was answered 409 .*not_kept"),
    ],
)
def test_kills_show_a_server_that_does_not_keep_its_word(
    defect: str, moment: str, complaint: str, tmp_path: Path
) -> None:
    episode = Episode(1, tmp_path, program(defect), moments=[moment])
    asyncio.run(episode.run(kills=30))  # the first complaint ends it
    assert any(re.search(complaint, one) for one in episode.complaints), episode.complaints


def test_callbacks_that_are_due_at_once_survive_kills_though_their_receiver_hangs(tmp_path: Path) -> None:
    """More kills than a callback has attempts."""
    burst = Burst(1, tmp_path)
    asyncio.run(burst.run(kills=5))
    assert not burst.complaints
    assert burst.counts["attempts"] == burst.counts["attempts cut short"] + CALLBACKS


@pytest.mark.parametrize(
    ("defect", "complaint"),
    [
        ("attempts_begin_before_their_turn", "attempts are on record, and|attempts are in flight, and"),
        ("interrupted_attempts_count", "ended by connection"),
    ],
)
def test_a_burst_shows_a_server_that_counts_attempts_wrongly(defect: str, complaint: str, tmp_path: Path) -> None:
    burst = Burst(1, tmp_path, program(defect))
    asyncio.run(burst.run(kills=5))
    assert any(re.search(complaint, one) for one in burst.complaints), burst.complaints
