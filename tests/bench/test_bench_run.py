"""A whole run against a stand-in, and the arithmetic of what it prints."""

import json
import shlex
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import report, rounds
from bench.__main__ import main
from bench.load import Load
from bench.results import Machine, Results
from bench.rounds import Cell, Side, Subject
from bench.servers import SIMULATOR, BenchError, Cores, running
from bench.startup import Startup
from bench.workloads import Client, Workload
from tools.tables import aligned

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
    results = Results(Machine(Cores(None, None)), [cell])
    (rows,) = (section.rows for section in report.sections(results) if section.title == "Rows")
    heading, row = aligned(rows).splitlines()
    assert row.split()[:5] == ["a", "title", "16", "0.500", "0.100"]
    assert len(heading) == len(row)
    assert Cell("network", "a title", 16, ((side(10), side(5)),)).cpu_ratio() is None
    assert [row["ratio"] for row in report.document(results)["Rows"]] == ["0.500"]


def test_a_round_with_callbacks_lasts_until_the_last_of_them_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    server: Any = SimpleNamespace(cpu_s=iter([5.0, 7.0]).__next__)
    workload = Workload("callbacks", "a title", lambda client: lambda count: [b""] * count, bool, delivers=True)
    subject = Subject(Client(server, "", "", "", ""), workload)
    monkeypatch.setattr(rounds, "measure", lambda *_: side(1000, 0.5))
    monkeypatch.setattr(rounds, "ask", lambda *_: {"idle": True})
    monkeypatch.setattr(rounds, "time", SimpleNamespace(perf_counter=iter([1.0, 4.0]).__next__))
    measured = subject.measured([], 16, 1.0)
    assert (measured.load.requests, measured.load.wall_s, measured.measured_cpu_s) == (1000, 4.0, 2.5)
    assert subject.fastest == 1000, "the next round needs as many requests as the load sent in its own time"


def test_start_times_are_compared_run_by_run() -> None:
    startup = Startup((0.3, 0.4), (0.1, 0.2), (0.01, 0.01))
    assert startup.ratios() == pytest.approx([3.0, 2.0])
    results = Results(Machine(Cores(None, None)), startup=startup)
    (table,) = (section.rows for section in report.sections(results) if section.title == "Start and memory")
    assert table[-1] == ("ratio, signed / bare", "2.5 times", "2 times", "3 times")


def test_a_run_measures_every_row_and_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    sections = ["requery", "callbacks", "startup"]
    assert main([*SHORT, "--json", str(out), "--server", shlex.join(FAKE), "--only", *sections]) == 0
    figures = json.loads(out.read_text())
    assert [(row["row"], row["conn"]) for row in figures["Rows"]] == [
        ("POST /v2/topup, re-query", "2"),
        ("topup, running clock, callbacks", "2"),
    ]
    assert all(float(row["ratio"]) > 0 for row in figures["Rows"])
    assert len(figures["Start and memory"]) >= 4
    assert figures["failures"] == []
    assert "POST /v2/topup, re-query" in capsys.readouterr().out


def test_written_requests_are_measured_beside_the_same_server_without_writing(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "keeping"]) == 0
    rows = json.loads(out.read_text())["Rows"]
    assert [row["row"] for row in rows] == [
        "creates, --durability process to memory",
        "creates, --durability power to memory",
    ]
    assert all(float(row["ratio"]) > 0 for row in rows)


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


def test_a_server_under_the_profiler_writes_its_profile_when_it_is_terminated(tmp_path: Path) -> None:
    out = tmp_path / "stats"
    recorded = (sys.executable, "-m", "bench.profile", str(out), *SIMULATOR[2:], "--port", "0", "--json")
    with running(recorded, Cores(None, None)) as server:
        server.process.send_signal(signal.SIGUSR1)
    assert out.exists()
