"""The proof, by real programs over real sockets: each mistake is found, shrunk and seen again, a good shop survives."""

import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from simulator.explore.fault_catalogue import Fault, single_faults
from simulator.explore.run_verdicts import Kind
from simulator.explore.storms import outages
from simulator.explore.trials import Trial, Trials, repeated, shrunk
from simulator.scenario.library import problems
from tests.support.explored import trials
from tests.support.processes import PROGRAM, Done, environment, run

pytestmark = pytest.mark.slow

FOUND_WITHIN_S = 120
EXPLORED_S = 280
MISTAKES = [
    ("new_refid", r"the first POST /v2/topup .*: paid twice"),
    ("no_dedup", r"callback Succesful of .* sent (twice.*|once more after a minute): exit 1"),
    ("trusts_order", r"callbacks? .* (in reverse order|late|once more after a minute|at the same time): exit 1"),
    ("gives_up", r"the payment of .* hangs for 4 minutes: exit 1"),
    ("retries_refusals", r"every payment of .* refused with Invalid_Account: audit: refusal-not-repeated"),
    ("forgets_page", r"the fourth GET /v2/options.*: audit: all-pages-read"),
    ("forgets_history", r"the third GET /v2/transactions.*: audit: history-pages-read"),
]


def explored(*arguments: str) -> Done:
    """As `run`, with the time that hundreds of runs take on a busy machine."""
    words = [*PROGRAM, "explore", *arguments]
    done = subprocess.run(words, capture_output=True, timeout=EXPLORED_S, env=environment(), check=False, text=True)
    return Done(done.returncode, done.stdout, done.stderr)


def command(shop: str) -> list[str]:
    return [sys.executable, "-m", f"tests.support.shops.{shop}"]


@pytest.mark.parametrize(("shop", "sentence"), MISTAKES)
def test_a_mistake_is_found_and_seen_again(shop: str, sentence: str, tmp_path: Path) -> None:
    # clock: a mistake is to be found within two minutes
    began = time.monotonic()
    out = tmp_path / "out"
    flags = ("--clock", "x100", "--minutes", "2", "--first", "--workers", "2", "--out", str(out))
    done = explored(*flags, "--", *command(shop))
    assert done.status == 1, done
    assert time.monotonic() - began < FOUND_WITHIN_S
    [found] = re.findall(r"^FOUND (.+)$", done.out, re.MULTILINE)
    assert re.search(sentence, found), found
    [path] = out.glob("*.yaml")
    assert path.read_text().count("- name:") + path.read_text().count("- { name:") <= 2  # one fault, one expectation
    assert problems(path) == []
    [again] = re.findall(r"^#   reseller-sim exec (.*) -- ", path.read_text(), re.MULTILINE)
    assert run("exec", *again.split(), "--", *command(shop)).status == 1


def test_a_good_shop_survives_every_single_fault_and_storms(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    flags = ("--clock", "x100", "--seed", "5", "--workers", "2", "--out", str(tmp_path / "out"), "--junit", str(junit))
    done = explored(*flags, "--minutes", "0.75", "--", *command("good"))
    assert done.status == 0, done
    line = r"^single faults: (\d+) of (\d+) survived(?:; \d+ of them met nothing)?(?: \((\d+) not tried\))?"
    [(survived, tried, left)] = re.findall(line, done.out, re.MULTILINE)
    assert survived == tried
    assert int(tried) > 30  # how many fit into the time, on a busy machine
    cases = ElementTree.parse(junit).getroot().findall("testsuite[@name='single faults']/testcase")  # noqa: S314 - ours
    assert len(cases) == int(tried) + int(left or 0)
    assert not list((tmp_path / "out").glob("*.yaml"))


def test_a_failure_that_needs_two_faults_survives_each_alone_and_is_shrunk_to_both(tmp_path: Path) -> None:
    with trials(tmp_path, *command("waits_for_callback")[1:]) as made:
        lost, late = (_named(made, words) for words in ("first POST /v2/topup lost after", "Succesful of .* 40 s late"))
        page, ahead = _named(made, "second GET /v2/options answered 500"), _named(made, "4 minutes ahead")
        for alone in (lost, late):
            [(_, verdict)] = made.run([Trial((alone,))])
            assert verdict.survived, verdict
        [(_, stormy)] = made.run([Trial((page, late, ahead, lost))])
        assert Kind.PAID_TWICE in {one.kind for one in stormy.reasons}
        faults, _ = shrunk(made, (page, late, ahead, lost), stormy)
        assert set(faults) == {lost, late}
        failure = repeated(made, faults)
        assert failure.is_certain
        assert failure.attempts == 2


def _named(made: Trials, words: str) -> Fault:
    faults = [*single_faults(made.baseline.seen), *outages(made.baseline.seen, [], has_start=False)]
    return next(one for one in faults if re.search(words, one.words))
