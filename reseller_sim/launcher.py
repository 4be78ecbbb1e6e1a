"""Launcher of the command `reseller-sim` with the package `simulator` that was installed beside this package.

A project may have its own `simulator`, which PYTHONPATH or the current folder puts before ours. The launcher therefore
loads ours from its own folder. It changes neither the path nor the environment, so programs that the command starts,
such as the tests of `exec`, import the project's package.

Run as a file, it is the child process of a test run. It also exits when its stdin ends, so it never outlives its
parent. Python then puts this folder first on the path; the launcher replaces it with its parent folder while it finds
our packages.
"""

import sys
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
    """Import our package as `simulator`, unless it is imported already."""
    folder = Path(__file__).absolute().parent.parent / PACKAGE
    if getattr(sys.modules.get(PACKAGE), "__file__", None) == str(folder / "__init__.py"):
        return
    spec = spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no package {PACKAGE} at {folder}")
    module = module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).absolute().parent.parent)
    import reseller_sim  # noqa: F401  # loads the command's modules, independently of later changes to the path

    del sys.path[0]
    load()
    from simulator.cli.process import end_with_stdin

    end_with_stdin()
    main()
