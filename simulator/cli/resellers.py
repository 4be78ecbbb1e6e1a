"""The resellers of a running sandbox, for verbs that act on one."""

from typing import Any

from simulator.cli.control import Control, path_part
from simulator.cli.errors import Refused


def deposit(
    control: Control, amount: str, code: str | None = None, description: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Add money to the wallet of a reseller, by default the first one; returns its code and the ledger entry."""
    code = code or reseller(control)["code"]
    body = {"amount": amount} | ({"description": description} if description is not None else {})
    return code, control.post(f"/resellers/{path_part(code)}/deposits", body, "deposit-answer")


def reseller(control: Control, code: str | None = None) -> dict[str, Any]:
    """A reseller of the sandbox, by default the first one, as the control API shows it. Raises `Refused`."""
    found: list[dict[str, Any]] = control.get("", "sandbox-answer")["resellers"]
    if code is not None and not any(one["code"] == code for one in found):
        raise Refused(f"{control.verb}: the sandbox {control.sandbox} has no reseller {code!r}")
    found = [one for one in found if code in (None, one["code"])]
    if not found:
        raise Refused(f"{control.verb}: the sandbox {control.sandbox} has no reseller")
    return found[0]
