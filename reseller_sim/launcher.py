"""Runs the command `reseller-sim` with the package `simulator` that was installed beside this one.

A project may have a `simulator` of its own, which PYTHONPATH or the current folder puts before ours. So ours is loaded
from its own folder. Neither the path nor the environment is changed: programs that the command starts, such as the
tests of `exec`, import the project's.

Run as a file it is the child of a test run: it also ends when its stdin does, so it never outlives its parent. Python
then puts this folder first on the path, which is replaced with its parent while our packages are found.
"""

import os
import signal
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NoReturn

PACKAGE = "simulator"


def main() -> NoReturn:
    """Run the command."""
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


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).absolute().parent.parent)
    import reseller_sim  # noqa: F401  # the command imports its modules, whatever the path is by then

    del sys.path[0]
    threading.Thread(target=_end_with_stdin, name="parent", daemon=True).start()
    main()
