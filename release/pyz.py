"""`make pyz`: the command and all it needs as one file, for several Pythons on the platform of this machine."""

import argparse
import hashlib
import json
import os
import stat
import sys
import sysconfig
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from release.commands import ROOT, SUPPORTED, CannotMake, requirements, uv, wheel
from release.pyz_main import INDEX

SHEBANG = b"#!/usr/bin/env python3\n"
COMMON = "common"
LEFT_OUT = (".pyx", ".pxd", ".c", ".h", ".pyc")
NOTES = ("direct_url.json", "uv_cache.json", "RECORD")
"""What an installer notes of where and when it installed a distribution, and the list that has these notes."""
EPOCH = (1980, 1, 1, 0, 0, 0)
Files = dict[str, bytes]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make it, and print where it is."""
    parser = argparse.ArgumentParser(prog="make pyz", description=__doc__)
    parser.add_argument("--python", action="append", choices=SUPPORTED, help="a Python to make it for; all by default")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "reseller-sim.pyz", metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = make(given.output, fetched(Path(folder), given.python or SUPPORTED))
    except CannotMake as error:
        print(f"make pyz: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB")
    return 0


def fetched(folder: Path, pythons: Sequence[str]) -> dict[str, Path]:
    """For each Python a folder with the package and its pinned libraries, installed from wheels alone."""
    ours = wheel(folder)
    for python in pythons:
        lines = requirements(python)
        flags = ["--python", sys.executable, "--python-version", python, "--only-binary", ":all:", "--no-deps"]
        uv("pip", "install", "--quiet", *flags, "--target", str(folder / python), str(ours), *lines)
    return {python: folder / python for python in pythons}


def make(output: Path, folders: Mapping[str, Path]) -> Path:
    """Write the archive: what all Pythons have in common is in it once. The same content gives the same bytes."""
    read = {python: _files(folder) for python, folder in folders.items()}
    counts = Counter((name, content) for files in read.values() for name, content in files.items())
    parts: Files = {}
    for python, files in read.items():
        for name, content in files.items():
            is_common = counts[name, content] == len(read)
            parts[f"{COMMON if is_common else python}/{name}"] = content
    digest = hashlib.sha256()
    for name in sorted(parts):
        digest.update(f"{name}\0{len(parts[name])}\0".encode() + parts[name])
    index = {"pythons": list(folders), "platform": sysconfig.get_platform(), "digest": digest.hexdigest()[:16]}
    parts |= {INDEX: json.dumps(index).encode(), "__main__.py": (ROOT / "release" / "pyz_main.py").read_bytes()}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)  # one that runs keeps what it has opened
    _write(output, parts)
    return output


def _files(folder: Path) -> Files:
    walked = os.walk(folder, followlinks=True)
    paths = [Path(place, name) for place, _, names in walked if not place.endswith("__pycache__") for name in names]
    names = {str(path.relative_to(folder)): path for path in paths}
    return {
        name: path.read_bytes()
        for name, path in sorted(names.items())
        if not name.endswith(LEFT_OUT) and not name.startswith(("bin/", ".")) and not _is_note(path)
    }


def _is_note(path: Path) -> bool:
    return path.name in NOTES and path.parent.name.endswith(".dist-info")


def _write(output: Path, parts: Files) -> None:
    with output.open("xb") as file:
        file.write(SHEBANG)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(parts):
                info = zipfile.ZipInfo(name, EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (stat.S_IFREG | 0o644) << 16
                archive.writestr(info, parts[name])
    output.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
