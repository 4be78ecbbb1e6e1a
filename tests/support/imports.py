"""The verb `import`, run in this process against a server that a test provides."""

from collections.abc import Sequence
from pathlib import Path

from click.testing import Result

from tests.support.runner import expect_accepted, invoke

KEY, SECRET = "key_of_the_account", "c2VjcmV0LW9mLXRoZS1hY2NvdW50LW9mLWEtdGVzdA=="


def run_import(url: str, folder: Path, *flags: str, key: str = KEY, secret: str = SECRET) -> Result:
    """Import from `url`, fast, with the state file in `folder`."""
    state = str(folder / "state")
    arguments = ("import", "--base-url", url, "--per-second", "100", "--state", state, *flags)
    return invoke(*arguments, RESELLER_SIM_KEY=key, RESELLER_SIM_SECRET=secret)


def imported(url: str, folder: Path, *flags: str, facts: Sequence[str] = ()) -> Path:
    """Return the file of a successful import. `check` must accept it with exactly these facts, which come from the
    account."""
    result = run_import(url, folder, *flags)
    assert result.exit_code == 0, result.stderr
    path = folder / "mine.yaml"
    path.write_bytes(result.stdout_bytes)
    expect_accepted(path, *facts)
    return path
