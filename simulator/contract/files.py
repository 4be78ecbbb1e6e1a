"""Locates the files that ship with the package: `contracts/`, `scenarios/` and the pages of `docs/`.

In a wheel they are packed into `simulator/data`; in a checkout they are beside the package.
"""

from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def data_dir(name: str) -> Path:
    """Return the folder `contracts`, `scenarios` or `docs` of this installation."""
    packed = _PACKAGE / "data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


def yaml_document(name: str) -> Any:
    """Read `contracts/NAME.yaml`."""
    import yaml  # imported lazily

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((data_dir("contracts") / f"{name}.yaml").read_bytes(), loader)  # noqa: S506  # both are safe loaders
