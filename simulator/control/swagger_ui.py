"""Where the files of Swagger UI are, an optional package, of which nothing is imported."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def swagger_ui() -> Path | None:
    """The folder with its files; None when it is not installed (the extra `docs`)."""
    found = find_spec("swagger_ui")
    folder = Path(found.origin).parent / "static" if found is not None and found.origin else None
    return folder if folder is not None and folder.is_dir() else None
