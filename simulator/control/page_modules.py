"""Which modules a page of the console needs, so that a browser asks for all of them at once."""

import re
from collections.abc import Mapping
from posixpath import dirname, join, normpath

# `import ... from "../app/dom.js"`, `import "./sim-bar.js"` and what is passed on by `export ... from`.
_IMPORT = re.compile(rb'^(?:import|export)\b[^"\';]*["\'](\.{1,2}/[^"\']+)["\']', re.MULTILINE)


def modules_of(sources: Mapping[str, bytes], *entries: str) -> list[str]:
    """The paths of the `entries` that exist and of all that they import, each once, what is needed first before what it
    imports."""
    found: dict[str, None] = {}
    waiting = [path for path in entries if path in sources]
    while waiting:
        path = waiting.pop(0)
        if path in found:
            continue
        found[path] = None
        imported = (normpath(join(dirname(path), name.decode())) for name in _IMPORT.findall(sources[path]))
        waiting += [name for name in imported if name in sources]
    return list(found)
