"""The cases that every reader of durations is tested with: scenarios, the command line, the clients, the schemas."""

import json
from pathlib import Path

CASES_FILE = Path(__file__).with_suffix(".json")
_CASES = json.loads(CASES_FILE.read_text("utf-8"))

GOOD: list[tuple[str, float]] = [(text, seconds) for text, seconds in _CASES["good"]]
"""Texts with their seconds."""
BELOW_ZERO: list[tuple[str, float]] = [(text, seconds) for text, seconds in _CASES["below_zero"]]
"""Accepted only where a time may lie before the present."""
BAD: list[str] = _CASES["bad"]
TOO_LONG: list[str] = _CASES["too_long"]
