"""A whole run against a stand-in, and the arithmetic of what it prints."""

import json
import shlex
import signal
import sys
from pathlib import Path

import pytest

from bench import documents, tables
from bench.__main__ import main
from bench.load import Load
from bench.pauses import Row
from bench.report import aligned
from bench.rounds import Cell, Side
from bench.servers import SIMULATOR, BenchError, Cores, running
from bench.startup import Startup

pytestmark = pytest.mark.slow

FAKE = [sys.executable, str(Path(__file__).parent.parent / "support" / "fake_simulator.py")]
SHORT = ["--rounds", "1", "--seconds", "0.1", "--starts", "1", "--connections", "2"]


def side(per_second: int, measured_cpu_s: float | None = None) -> Side:
    return Side(Load(per_second, 0, 1.0, 0.25, 1.0, 2.0), measured_cpu_s)


def test_ratios_are_taken_pair_by_pair() -> None:
    cell = Cell(
        "topup", "a title", 16, ((side(1000, 1), side(500, 1)), (side(100, 1), side(90, 1)), (side(10, 1), side(1, 1)))
    )
    assert cell.ratios() == [0.5, 0.9, 0.1]
    assert cell.cpu_us(0) == [1e3, 1e4, 1e5]
    assert cell.cpu_ratio() == 0.5
    assert cell.load_cpu() == 0.25
    heading, row = aligned(tables.of_cells([cell])).splitlines()
    assert row.split()[:5] == ["a", "title", "16", "0.500", "0.100"]
    assert len(heading) == len(row)
    assert Cell("deliveries", "a title", 16, ((side(10), side(5)),)).cpu_ratio() is None
    assert documents.cell_document(cell)["ratio"] == {"median": 0.5, "min": 0.1, "max": 0.9}


def test_the_longest_waits_are_shown_beside_the_number_of_payments() -> None:
    row = Row("a title", 100_000, tuple(map(float, range(1001))))
    assert row.figures() == (500, 990, 999, 1000)
    line = aligned(tables.of_pauses([row])).splitlines()[-1]
    assert line.split() == ["a", "title", "100,000", "500.00", "990.00", "999.00", "1000.00"]


def test_start_times_are_compared_run_by_run() -> None:
    startup = Startup((0.2, 0.2), (0.3, 0.4), (0.1, 0.2), (0.01, 0.01))
    assert startup.ratios() == pytest.approx([3.0, 2.0])
    assert aligned(tables.of_startup(startup)).splitlines()[-1].split()[-3:] == ["2.50", "2.00", "3.00"]


def test_a_run_measures_every_row_and_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    sections = ["requery", "callbacks", "pauses", "startup"]
    assert (
        main([*SHORT, "--payments", "200", "--json", str(out), "--server", shlex.join(FAKE), "--only", *sections]) == 0
    )
    figures = json.loads(out.read_text())
    assert [(cell["name"], cell["connections"]) for cell in figures["cells"]] == [
        ("requery", 2),
        ("callbacks", 2),
        ("callbacks-delivered", 2),
    ]
    assert all(cell["ratio"]["median"] > 0 for cell in figures["cells"])
    assert [(row["title"], row["payments"]) for row in figures["pauses"]] == [
        ("bare server", 40),
        ("POST /v2/topup, creates", 40),
        ("POST /v2/topup, creates", 200),
        ("topup, running clock, callbacks", 40),
        ("topup, running clock, callbacks", 200),
    ]
    assert all(0 < row["p50_ms"] <= row["p999_ms"] <= row["max_ms"] for row in figures["pauses"])
    assert figures["startup"]["ratio"] > 0
    assert figures["failures"] == []
    assert "POST /v2/topup, re-query" in capsys.readouterr().out


def test_what_is_written_down_is_measured_beside_the_same_server_without(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "keeping"]) == 0
    cells = json.loads(out.read_text())["cells"]
    assert [cell["name"] for cell in cells] == ["kept-process", "kept-power", "taped"]
    assert all(cell["ratio"]["median"] > 0 for cell in cells)


def test_a_server_that_does_not_start_is_reported_with_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('port is taken')"])
    assert main([*SHORT, "--server", command, "--only", "balance"]) == 1
    assert "port is taken" in capsys.readouterr().err


def test_a_line_without_a_url_is_not_the_ready_line() -> None:
    with (
        pytest.raises(BenchError, match="no ready line"),
        running([sys.executable, "-c", "print('[1]')"], Cores(None, None)),
    ):
        pass


def test_a_server_under_the_profiler_writes_what_it_recorded_when_it_is_terminated(tmp_path: Path) -> None:
    out = tmp_path / "stats"
    recorded = (sys.executable, "-m", "bench.profiling", str(out), *SIMULATOR[2:], "--port", "0", "--json")
    with running(recorded, Cores(None, None)) as server:
        server.process.send_signal(signal.SIGUSR1)
    assert out.exists()
