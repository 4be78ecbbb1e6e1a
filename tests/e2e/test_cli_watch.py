"""`serve --watch` as a real process: a file is saved, and the next payment meets it."""

import json
import signal
from pathlib import Path

import pytest

from tests.support.processes import Serving, run, serving

pytestmark = pytest.mark.slow

FAILS = "extends: default\nclock: manual\npayments: [{ then: [{ status: Failed }] }]\n"


def pay(server: Serving, refid: str) -> str:
    body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}
    done = run("call", "POST", "/v2/topup", "-d", json.dumps(body), "--url", server.ready["url"])
    status: str = json.loads(done.out)["data"]["status"]
    return status


def test_a_saved_file_is_loaded_when_it_is_valid_and_reported_when_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: default\nclock: manual\n")
    with serving(str(path), "--watch", "--port", "0", "--json") as server:
        assert server.process.stderr is not None
        assert pay(server, "one") == "Accepted"
        path.write_text("extends: default\npayments: [{ than: [] }]\n")
        assert server.process.stderr.readline().startswith(f"{path}:2:")
        while "not loaded" not in (line := server.process.stderr.readline()):
            assert line
        assert pay(server, "two") == "Accepted"
        path.write_text(FAILS)
        assert server.process.stderr.readline() == f"{path}: loaded\n"
        assert pay(server, "three") == "Failed"
        assert pay(server, "one") == "Accepted"
        assert server.stop(signal.SIGTERM) == (0, "", "")


def test_without_watch_a_saved_file_waits(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: default\nclock: manual\n")
    with serving(str(path), "--port", "0", "--json") as server:
        path.write_text(FAILS)
        assert pay(server, "one") == "Accepted"


def test_a_bundled_scenario_can_be_watched() -> None:
    with serving("slow-provider", "--port", "0", "--json", RESELLER_SIM_WATCH="1") as server:
        assert pay(server, "one") == "Accepted"
        assert server.stop(signal.SIGTERM) == (0, "", "")
