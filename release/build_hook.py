"""The hook of the build that puts the version into the package, so that no program asks git when it starts, and the
pages of the documentation, which `reseller-sim mcp` serves.

A wheel has it as `simulator/_version.py`. An editable installation, as of `make run`, uses the checkout, and gets the
same file there; git ignores it.
"""

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "simulator/_version.py"


class VersionHook(BuildHookInterface[Any]):
    """Write the version's module for a wheel or an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the module into the checkout, or into a folder from which the wheel takes it."""
        source = runpy.run_path(str(Path(self.root, "release", "version.py")))  # which need not be importable here
        if version == "editable":
            source["write_module"](Path(self.root, MODULE), self.metadata.version.removesuffix(source["DIRTY"]))
            return
        self._folder = TemporaryDirectory()
        path = Path(self._folder.name, "version.py")
        source["write_module"](path, self.metadata.version)
        build_data["force_include"][str(path)] = MODULE
        for page in sorted(Path(self.root, "docs").glob("*.md")):
            build_data["force_include"][str(page)] = f"simulator/data/docs/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        if version != "editable":
            self._folder.cleanup()
