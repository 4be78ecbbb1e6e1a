"""`make sbom`: what an installation consists of, as a CycloneDX document."""

import json
import sys
import tempfile
from pathlib import Path

from release.commands import CONSTRAINTS, PROJECT, ROOT, THIS_PYTHON, CannotMake, requirements, run, uv, wheel


def main() -> int:
    """Install the pinned libraries into an empty environment, list it, and print where the list is."""
    output = ROOT / "dist" / f"{PROJECT['name']}.cdx.json"
    output.parent.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            environment = Path(folder, "venv")
            uv("venv", "--quiet", "--python", sys.executable, str(environment))
            python = str(environment / "bin" / "python")
            ours = wheel(Path(folder))
            uv("pip", "install", "--quiet", "--python", python, "--no-deps", *requirements(THIS_PYTHON), str(ours))
            _list(Path(folder, "generator"), python, output)
    except CannotMake as error:
        print(f"make sbom: {error}", file=sys.stderr)
        return 1
    components = json.loads(output.read_text("utf-8"))["components"]
    print(f"{output}: {len(components)} components")
    return 0


def _list(folder: Path, python: str, output: Path) -> None:
    """List an environment with the generator, which is installed beside it so that it is not in the list."""
    uv("venv", "--quiet", "--python", sys.executable, str(folder))
    own = str(folder / "bin" / "python")
    uv("pip", "install", "--quiet", "--python", own, "-c", str(CONSTRAINTS), *PROJECT["optional-dependencies"]["sbom"])
    flags = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--output-format", "JSON"]
    run(own, "-m", "cyclonedx_py", "environment", *flags, "--output-file", str(output), python)


if __name__ == "__main__":
    sys.exit(main())
