"""The modules that a page of the console names ahead: all that its view imports, each once, and no other view's."""

import re
from pathlib import Path

import pytest

from simulator.control.pages import modules_of
from tests.support.client import running

WEB = Path(__file__).parents[2] / "simulator" / "console" / "web"
SOURCES = {
    "app/main.js": b'import "../elements/frame.js";\nimport { ROOT } from "./api.js";\n',
    "elements/frame.js": b'import {\n\ta,\n\tb,\n} from "../app/api.js";\nimport "./none.js";\nimport(`./y.js`);\n',
    "app/api.js": b'export { one } from "./one.js";\n// import "./two.js";\n',
    "app/one.js": b'import "./api.js";\n',
    "app/two.js": b"",
}


def named(address: str) -> list[str]:
    with running() as client:
        return re.findall(r'modulepreload" href="(?:\.\./)*console/([^"]+)"', client.send("GET", address).body.decode())


def test_imported_modules_are_found_once_also_in_a_cycle() -> None:
    assert modules_of(SOURCES, "app/main.js") == ["app/main.js", "elements/frame.js", "app/api.js", "app/one.js"]
    assert modules_of(SOURCES, "elements/none.js") == []


@pytest.mark.parametrize(
    ("address", "element"),
    [
        ("/_sim/", "sim-live"),
        ("/_sim/s/default", "sim-live"),
        ("/_sim/s/a%2fb/payments/2611234510804065847140", "sim-payments"),
        ("/_sim/s/default/nonsense", "sim-live"),
        ("/_sim/ui/scenarios", "sim-scenarios"),
    ],
)
def test_a_page_names_the_modules_of_its_view(address: str, element: str) -> None:
    modules = named(address)
    assert len(set(modules)) == len(modules) > 10
    assert {"app/main.js", f"elements/{element}.js"} <= set(modules)
    assert "elements/sim-audit.js" not in modules
    for path in modules:
        for name in re.findall(r'from "(\.[^"]+)"', (WEB / path).read_text()):
            wanted = (WEB / path).parent.joinpath(name).resolve().relative_to(WEB).as_posix()
            assert wanted in modules, f"{path} imports {name}"
