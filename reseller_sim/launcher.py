"""Runs the command `reseller-sim` with the package `simulator` that was installed beside this one.

A project may have a `simulator` of its own, which PYTHONPATH or the current folder puts before ours. So ours is loaded
from its own folder, whatever the path says. Neither the path nor the environment is changed: what the command starts in
turn, such as the tests of `exec`, imports the project's.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NoReturn

PACKAGE = "simulator"


def main() -> NoReturn:
    """The entry point of the command."""
    load()
    from simulator.cli.main import main as command

    command()


def load() -> None:
    """Make `simulator` our package, unless it is already."""
    folder = Path(__file__).absolute().parent.parent / PACKAGE
    loaded = sys.modules.get(PACKAGE)
    if loaded is not None and getattr(loaded, "__file__", None) == str(folder / "__init__.py"):
        return
    spec = spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no package {PACKAGE} at {folder}")
    module = module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main()
