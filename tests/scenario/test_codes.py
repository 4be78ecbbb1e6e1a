"""Every code that a problem may have is expected by a row of some table of mistakes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from simulator.scenario import build
from tests.support.bad_scenarios import BAD_OBJECTS, HOSTILE, MISTAKES, REFUSED, SECTION_MISTAKES, USELESS_PARTS
from tests.support.findings import FINDINGS

# Where a code stands among the arguments of what reports it.
PLACES = {"problem": 0, "parsed": 1, "_read": 2, "_stop": 2, "add": 2, "Problem": 4, "_error": 3}
# Problems of files themselves: `test_files`, `test_library` and `test_load` have them.
ELSEWHERE = {"no_file", "cycle", "empty"}


def codes() -> Iterator[str]:
    """The codes that are written in the source."""
    for path in Path(build.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = PLACES.get(name, len(node.args))
            code = node.args[place] if place < len(node.args) else None
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                assert re.fullmatch("[a-z]+(_[a-z]+)*", code.value), f"{path.name}: {code.value}"
                yield code.value


def test_every_code_is_in_a_table() -> None:
    expected = [place for _, _, places in (*MISTAKES, *USELESS_PARTS) for place in places]
    expected += [" ".join(line.split(" ")[:2]) for _, _, lines in FINDINGS for line in lines]
    expected += [place for _, place in SECTION_MISTAKES] + [place for *_, place in (*REFUSED, *HOSTILE, *BAD_OBJECTS)]
    listed = {place.rpartition(" ")[2] for place in expected}
    written = set(codes())
    assert len(written) > 25
    assert written - listed - ELSEWHERE == set()
