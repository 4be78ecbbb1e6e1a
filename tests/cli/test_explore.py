"""`reseller-sim explore` and `prove` report on one line why nothing was judged."""

import errno
import os
from pathlib import Path

import pytest

from tests.support.runner import invoke, refusal


def test_an_error_of_the_system_without_a_file_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("simulator.cli.explore.read_finding", fail)
    line = refusal(invoke("prove", __file__, "--", "true"), 3)
    assert line == "reseller-sim prove: the runs stopped: Too many open files"
