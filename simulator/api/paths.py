"""Resolves a path to its endpoints: exact paths first, then the few with parameters (SPEC 4.20)."""

from collections.abc import Mapping

from simulator.api.call import Endpoint

Methods = Mapping[str, Endpoint]


class PathTable:
    """`exact` holds the paths without parameters; `match` resolves the others."""

    def __init__(self, routes: Mapping[str, Methods]) -> None:
        self.known = list(routes)
        self.exact = {path: methods for path, methods in routes.items() if "{" not in path}
        self._templates: dict[int, list[tuple[list[str], Methods]]] = {}
        for path, methods in routes.items():
            if "{" in path:
                parts = path.split("/")
                self._templates.setdefault(len(parts), []).append((parts, methods))

    def name_of(self, path: str) -> str:
        """The path as the contract writes it, with parameters in braces; `*` for an unknown path."""
        return path if path in self.exact else "/".join(self._find(path)[0]) or "*"

    def match(self, path: str) -> tuple[Methods | None, Mapping[str, str]]:
        """The methods of a path with parameters, and their values; a parameter is one non-empty segment."""
        template, methods = self._find(path)
        pairs = zip(template, path.split("/"), strict=methods is not None)
        return methods, {wanted[1:-1]: part for wanted, part in pairs if wanted[:1] == "{"}

    def _find(self, path: str) -> tuple[list[str], Methods | None]:
        """The matching template, split into segments, and its methods; no segments when there is none."""
        parts = path.split("/")
        for template, methods in self._templates.get(len(parts), ()):
            pairs = zip(template, parts, strict=True)
            if all(part if wanted[:1] == "{" else wanted == part for wanted, part in pairs):
                return template, methods
        return [], None
