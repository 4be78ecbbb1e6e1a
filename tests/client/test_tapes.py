"""The client begins a sandbox from a tape: a file of its own, or one below the folder that the server reads."""

from pathlib import Path
from typing import Any

import pytest

from reseller_sim import Sandbox, Simulator, SimulatorError
from reseller_sim.exchange import exchange

PAYMENT = {"product": "RELOAD", "account": "0123456789", "amount": 10}


@pytest.fixture
def tape(own: Sandbox, simulator: Simulator, tmp_path: Path) -> Path:
    """A tape of two payments, with a mark between them."""
    own.call("POST", "/v2/topup", {**PAYMENT, "refid": "one"})
    own.mark("noon")
    own.call("POST", "/v2/topup", {**PAYMENT, "refid": "two"})
    file = tmp_path / "day.tape"
    file.write_bytes(exchange("GET", f"{simulator.control_url}/sandboxes/{own.id}/tape", None, {}, 10.0).body)
    return file


def refids(sandbox: Any) -> list[str]:
    return sorted(row["refid"] for row in sandbox.transactions())


def test_a_sandbox_begins_where_a_tape_ends_or_at_a_mark(client: Any, tape: Path) -> None:
    with client.sandbox(tape=tape) as whole, client.sandbox(tape=str(tape), mark="noon", id="noon") as half:
        assert (refids(whole), refids(half), half.id) == (["one", "two"], ["one"], "noon")
        assert half.call("POST", "/v2/topup", {**PAYMENT, "refid": "three"}).status == 200
        half.advance("1h")
        half.expect_status("three", "Succesful")


def test_the_clock_of_a_replayed_sandbox_is_the_requested_clock(client: Any, tape: Path) -> None:
    with client.sandbox(tape=tape, clock="x60") as fast:
        assert fast.ask("GET", "/clock")["mode"] == "xN"


def test_options_that_the_tape_already_fixes_are_refused(simulator: Simulator, tape: Path) -> None:
    for more in ({"scenario": "default"}, {"seed": 1}, {"start": "2027-01-10T23:59:00+08:00"}):
        with pytest.raises(ValueError, match="a tape has its own scenario, start and seed"):
            simulator.sandbox(tape=tape, **more)
    with pytest.raises(ValueError, match="mark names a place on a tape"):
        simulator.sandbox(mark="noon")


def test_a_file_that_is_no_tape_is_refused(simulator: Simulator, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        simulator.sandbox(tape=tmp_path / "none.tape")
    (tmp_path / "no.tape").write_text("hello")
    with pytest.raises(SimulatorError, match="is not the beginning of a tape"):
        simulator.sandbox(tape=tmp_path / "no.tape")
