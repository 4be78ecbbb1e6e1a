"""docs/python-client.md does what it shows, and shows every name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import reseller_sim
from reseller_sim import control, receiver, sandbox, simulator
from tests.support.both_clients import PAIRS, public
from tests.support.pages import assert_shown, blocks
from tests.support.processes import DEADLINE_S, ROOT, environment

PAGE = (ROOT / "docs" / "python-client.md").read_text("utf-8")
BLOCKS = blocks(PAGE)
PLAYED = "\n".join(block.text for block in BLOCKS if block.language == "python")


@pytest.mark.slow
def test_the_examples_do_what_the_page_shows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAYED],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for block in BLOCKS:
        if block.language == "text":
            assert_shown(block.text, done.stdout)


@pytest.mark.parametrize(
    "kind", [PAIRS[0][0], PAIRS[1][0], *(getattr(reseller_sim, name) for name in ("Receiver", "Message", "Answer"))]
)
def test_every_name_of_a_class_is_played(kind: type) -> None:
    played = set(re.findall(r"\.(\w+)", PLAYED))
    assert public(kind) - {"control"} - played == set()


def test_every_name_of_the_package_is_on_the_page() -> None:
    results = {
        "AsyncHold",
        "AsyncRule",
        "AsyncSandbox",
        "Hold",
        "Message",
        "Rule",
        "Sandbox",
        "Story",
        "Verdict",
    }  # users do not create them
    missing = {name for name in reseller_sim.__all__ if not re.search(rf"\b{name}\b", PAGE)}
    assert missing <= results


def test_the_bounds_on_the_page_match_the_code() -> None:
    table = PAGE.partition("\n### Limits\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    numbers = [[int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", row)] for row in rows]
    assert numbers == [
        [receiver.MESSAGES_MAX],
        [receiver.BODY_BYTES_MAX >> 20, 413],
        [receiver.REQUEST_S],
        [control.TIMEOUT_S, sandbox.LONG_S],
        [simulator.START_TIMEOUT_S, simulator.STOP_TIMEOUT_S],
        [simulator.LINES_KEPT],
    ]
