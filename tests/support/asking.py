"""Verbs that run in this process and call a running simulator, for a sandbox of their own."""

import json
from dataclasses import dataclass
from typing import Any

from click.testing import Result

from tests.support.runner import invoke


@dataclass(frozen=True)
class Asking:
    """A sandbox of the simulator at `url`."""

    url: str
    sandbox: str

    @classmethod
    def of_new_sandbox(cls, url: str, *arguments: str) -> "Asking":
        """Create a sandbox with a manual clock. `arguments` are passed to `sandbox new`."""
        made = invoke("sandbox", "new", *arguments, "--clock", "manual", "--json", "--url", url)
        assert made.exit_code == 0, made.output
        return cls(url, json.loads(made.stdout)["id"])

    def verb(self, *arguments: str, body: bytes = b"", **variables: str) -> Result:
        """Run a verb; the sandbox is in its environment."""
        variables |= {"RESELLER_SIM_URL": f"{self.url}/_sim", "RESELLER_SIM_SANDBOX": self.sandbox}
        return invoke(*arguments, body=body, **variables)

    def json(self, *arguments: str, status: int = 0) -> Any:
        """Return the output of a verb with `--json`."""
        done = self.verb(*arguments, "--json")
        assert (done.exit_code, done.stderr) == (status, ""), done.output
        assert done.stdout.endswith("\n")
        assert not done.stdout.endswith("\n\n")
        return json.loads(done.stdout)

    def pay(self, refid: str, account: str = "0123456789") -> None:
        """Pay 10 MYR; refusals are fine."""
        payment = {"refid": refid, "product": "RELOAD", "account": account, "amount": 10}
        self.verb("call", "POST", "/v2/topup", "-d", json.dumps(payment))
