"""`make audit`: report known vulnerabilities of the pinned packages by pip-audit, and the packages that it could not
audit.

Only a vulnerability fails the audit. pip-audit itself also succeeds without a network, so this says when nothing was
audited.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONSTRAINTS = "constraints.txt"
PINS = (CONSTRAINTS, "tools/site/requirements.txt")
TIMEOUT_S = 120
WORDS_MAX = 30


def main() -> int:
    """Audit, print, and return the exit code."""
    lines, status = audited()
    print("\n".join(lines))
    return status


def audited() -> tuple[list[str], int]:
    """Install pip-audit if it is missing, run it, and judge its report."""
    if find_spec("pip_audit") is None:
        install = ["pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "0", "--timeout", "10"]
        done = _run([*install, "-c", CONSTRAINTS, "-e", ".[audit]"])
        if done is None or done.returncode:
            return ["not audited: pip-audit cannot be installed"], 0
    flags = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--timeout", "10"]
    done = _run(["pip_audit", *(word for name in PINS for word in ("-r", name)), *flags])
    return verdict(done.stdout, done.stderr) if done else ([f"not audited: no result within {TIMEOUT_S} seconds"], 0)


def _run(module: Sequence[str]) -> "subprocess.CompletedProcess[str] | None":
    command = [sys.executable, "-m", *module]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return None


def verdict(report: str, errors: str) -> tuple[list[str], int]:
    """Return the lines to print for a report in JSON, and the exit code: 1 for a vulnerability."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (errors.strip().splitlines() or ["pip-audit printed no report"])[-1]
        return [f"not audited: {' '.join(last.split()[:WORDS_MAX])}"], 0
    known = [one for one in packages if "vulns" in one]
    skipped = [one for one in packages if "vulns" not in one]
    lines = [_line(one, each) for one in known for each in one["vulns"]]
    status = 1 if lines else 0
    if known:
        lines.append(f"audited: {len(known)} packages, {len(lines)} known vulnerabilities")
    if skipped or not known:
        names = ", ".join(one["name"] for one in skipped[:3]) + (", ..." if len(skipped) > 3 else "")
        lines.append(f"not audited: {len(skipped)} packages that the advisory database does not answer for ({names})")
    return lines, status


def _line(package: dict[str, Any], found: dict[str, Any]) -> str:
    fixed = ", ".join(found.get("fix_versions", ())) or "no version"
    return f"{package['name']} {package['version']}: {found['id']}, fixed in {fixed}"


if __name__ == "__main__":
    sys.exit(main())
