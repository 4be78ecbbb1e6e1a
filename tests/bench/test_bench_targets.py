"""Targets are judged from what was measured, and the page says on what it was, how, and whether they are met."""

import re

import pytest

from bench import report
from bench.load import Load
from bench.results import Machine, Results
from bench.rounds import Cell, Side
from bench.servers import Cores
from bench.startup import Startup
from bench.tail import BARE_NAME, OUR_NAME, Tail
from bench.targets import judged


def side(per_second: int, cpu_s: float | None = None) -> Side:
    return Side(Load(per_second, 0, 1.0, 0.25, 1.0, 2.0), cpu_s)


def cell(name: str, bare: Side, ours: Side) -> Cell:
    return Cell(name, name, 16, ((bare, ours),))


def tail(server: str, p99_ms: float, gap_s: float, starved: float = 0.0) -> Tail:
    one = Load(1000, 0, 1.0, 0.1, 1.0, p99_ms, gap_s=gap_s, p999_ms=p99_ms, max_ms=p99_ms)
    return Tail(server, 16, (one,), starved)


@pytest.fixture
def results() -> Results:
    found = Results(Machine(Cores(0, 1)))
    found.cells = [
        cell("topup", side(1000, 0.1), side(500, 0.1)),
        cell("requery", side(1000, 0.1), side(500, 0.05)),
        cell("balance", side(1000, 0.1), side(900, 0.5)),
        cell("refused-secret", side(1000, 0.1), side(1000, 0.3)),
    ]
    found.tails = [tail(BARE_NAME, 2.0, 0.001), tail(OUR_NAME, 5.0, 0.05)]
    found.startup = Startup((0.5,), (0.25,), (0.01,), (0.4,), (80.0,))
    return found


def test_each_figure_is_held_against_its_bound_by_rate_and_by_cpu(results: Results) -> None:
    said = {verdict.title: verdict.said() for verdict in judged(results)}
    assert said == {
        "POST /v2/topup, creates, 16": "yes",
        "POST /v2/topup, re-query, 16": "by CPU, not by rate",
        "GET /v2/balance, 16": "by rate, not by CPU",
        "CPU of a refused refused-secret, 16": "no",
        "p99 of a creating topup to the bare app's, 16": "yes",
        "longest pause of the server, 16": "no",
        "start to signed answer, where bare takes 0.15 s": "yes",
        "reseller-sim exec -- true": "yes",
        "resident memory after the start": "no",
    }


def test_a_missing_measurement_has_no_verdict() -> None:
    assert list(judged(Results(Machine(Cores(None, None))))) == []


def test_the_page_has_every_table_and_what_could_not_be_measured(results: Results) -> None:
    results.failures = ["network: no server"]
    text = report.page(results)
    assert re.findall("^## (.+)$", text, re.MULTILINE) == [
        "Targets",
        "Rows",
        "The tail",
        "Start and memory",
        "What could not be measured",
    ]
    assert "| longest pause of the server, 16 | at most 40 ms | 50.00 | - | no |" in text
    assert "- network: no server" in text
    assert "The machine was shared" not in text
    assert all(len(line.split("|")) > 3 for line in text.splitlines() if line.startswith("|"))


def test_the_page_says_so_when_servers_waited_for_their_core(results: Results) -> None:
    results.tails.append(tail(OUR_NAME, 5.0, 0.03, starved=0.4))
    assert "a server of the tail waited for its core in 40% of its time" in report.page(results)


def test_a_tail_whose_slices_were_too_short_for_a_percentile_has_no_ratio_of_it() -> None:
    ours, bare = tail(OUR_NAME, 2.0, 0.1), tail(BARE_NAME, 0.0, 0.1)
    assert ours.ratio_to(bare, "p99_ms") is None
    assert ours.ratio_to(tail(BARE_NAME, 0.5, 0.1), "p99_ms") == 4.0
