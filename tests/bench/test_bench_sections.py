"""Short real runs of the sections that need the real simulator, and peers that are not there."""

import json
from pathlib import Path

import pytest

from bench import sharded
from bench.__main__ import main
from bench.catalogs import scenario_of
from bench.peers import mocks
from bench.peers.measured import Plan, measure_peers
from bench.peers.mocks import PEERS
from bench.peers.started import started
from bench.servers import BenchError, Cores
from bench.tail import BARE_NAME, OUR_NAME
from simulator.scenario.library import scenario_from_object
from tests.support.programs import program

pytestmark = pytest.mark.slow

NOWHERE = Cores(None, None)
SHORT = ["--rounds", "1", "--seconds", "0.1", "--starts", "1", "--connections", "2"]


def test_a_scenario_lists_as_many_products_as_it_is_asked_for() -> None:
    listed = scenario_from_object(scenario_of(40)).catalog.products
    default = scenario_from_object({"scenario": "s", "extends": "default"}).catalog.products
    assert len(listed) - len(default) == 40 - 13


def test_rows_are_measured_beside_a_bare_app_that_answers_as_many_bytes(tmp_path: Path) -> None:
    out, page = tmp_path / "figures.json", tmp_path / "page.md"
    sections = ["network", "catalog", "catalog-500", "refusals"]
    assert main([*SHORT, "--json", str(out), "--page", str(page), "--only", *sections]) == 0
    figures = json.loads(out.read_text())
    names = [cell["name"] for cell in figures["cells"]]
    assert names[:3] == ["network", "catalog", "catalog-500"]
    assert all(name.startswith("refused-") for name in names[3:])
    assert figures["machine"]["commit"]
    assert "## Rows" in page.read_text()


@pytest.mark.needs("haproxy")
def test_two_servers_are_measured_beside_one_behind_the_proxy_and_one_alone(tmp_path: Path) -> None:
    program("haproxy")
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "sharded"]) == 0
    cells = json.loads(out.read_text())["cells"]
    assert [cell["name"] for cell in cells] == ["sharded-one", "sharded-two"]
    assert all(cell["ratio"]["median"] > 0 for cell in cells)


def test_without_a_proxy_it_is_said_that_servers_behind_one_are_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sharded, "_haproxy", lambda: None)
    assert main([*SHORT, "--json", str(tmp_path / "figures.json"), "--only", "sharded"]) == 0
    assert sharded.MISSING in capsys.readouterr().err


def test_the_tail_is_measured_by_turns_over_all_payments(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--tail-payments", "200", "--json", str(out), "--only", "tail"]) == 0
    tails = json.loads(out.read_text())["tail"]
    assert [(one["server"], one["connections"], one["answers"]) for one in tails] == [
        (BARE_NAME, 16, 200),
        (OUR_NAME, 16, 200),
        (BARE_NAME, 64, 200),
        (OUR_NAME, 64, 200),
    ]
    assert all(one["gap_s"] > 0 for one in tails)


def test_the_start_is_that_of_an_installed_package_and_its_command(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "startup"]) == 0
    startup = json.loads(out.read_text())["startup"]
    assert len(startup["exec_s"]) == len(startup["signed_s"]) == 1


def test_a_peer_that_is_not_installed_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mocks, "NODE_MODULES", tmp_path)
    found = measure_peers(Plan(1, 50, 0.05), NOWHERE)
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["not measured"] * len(PEERS)
    assert [one.server for one in found.standings] == [BARE_NAME, OUR_NAME]
    assert len(found.missing) == len(PEERS)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_answers_the_canned_payment(peer: mocks.Peer) -> None:
    if reason := peer.missing():
        pytest.skip(reason)
    with started(peer, b'{"data":{"status":"Accepted"}}', NOWHERE) as (server, start_s):
        assert server.process.poll() is None
        assert start_s > 0


def test_a_peer_that_answers_otherwise_is_not_measured() -> None:
    peer = next((one for one in PEERS if not one.missing()), None)
    if peer is None:
        pytest.skip("no peer is installed")
    other = mocks.Peer(
        peer.name,
        peer.package,
        peer.program,
        peer.file,
        lambda folder, port, answer, path: peer.command(folder, port, b'{"other":1}', path),
    )
    with pytest.raises(BenchError, match="answers"), started(other, b"{}", NOWHERE):
        pass
