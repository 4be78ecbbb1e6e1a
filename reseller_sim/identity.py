"""What a sandbox is called and who may call it: what is known without asking."""

import os
from typing import Any

from reseller_sim.auth import HMACAuth
from reseller_sim.control import Control, sandbox_path
from reseller_sim.proxies import bypass


class Identity:
    """A sandbox as the control API described it when it was made, found or reset."""

    def __init__(self, control: Control, described: dict[str, Any]) -> None:
        self._control = control
        self._described = described
        self._path = sandbox_path(described["id"])

    @property
    def id(self) -> str:
        """Its name."""
        return str(self._described["id"])

    @property
    def url(self) -> str:
        """The base URL of the reseller API in this sandbox."""
        return self._control.root + "/s/" + self.id

    @property
    def scenario(self) -> str:
        """The name of its scenario."""
        return str(self._described["scenario"])

    @property
    def seed(self) -> int:
        """What its randomness is drawn from."""
        return int(self._described["seed"])

    @property
    def resellers(self) -> list[dict[str, Any]]:
        """Its resellers with their credentials, and the balances that they had then."""
        return list(self._described["resellers"])

    @property
    def code(self) -> str:
        """The first reseller's code; empty when there is none."""
        return self._first("code")

    @property
    def control_url(self) -> str:
        """The URL of this sandbox in the control API."""
        return self._control.url + self._path

    def _first(self, name: str) -> str:
        return str((self.resellers[0] if self.resellers else {}).get(name) or "")

    @property
    def api_key(self) -> str:
        """The API key of the first reseller; empty when it has none."""
        return self._first("api_key")

    @property
    def api_secret(self) -> str:
        """Its secret, in Base64."""
        return self._first("api_secret")

    @property
    def username(self) -> str:
        """The first reseller's user, for bearer tokens; empty when it has none."""
        return self._first("username")

    @property
    def password(self) -> str:
        """The user's password."""
        return self._first("password")

    @property
    def auth(self) -> HMACAuth:
        """Signs as the first reseller, for httpx, httpx2 and requests. Raises `LookupError` when it has no API key."""
        if not self.api_key:
            raise LookupError(f"the first reseller of the sandbox {self.id} has no API key to sign with")
        return HMACAuth(self.api_key, self.api_secret)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that `reseller-sim exec` sets, for a program that reads them. NO_PROXY is that of this process
        with the simulator's host."""
        wanted = {
            "RESELLER_BASE_URL": self.url,
            "RESELLER_API_KEY": self.api_key,
            "RESELLER_API_SECRET": self.api_secret,
            "RESELLER_USERNAME": self.username,
            "RESELLER_PASSWORD": self.password,
            "RESELLER_SANDBOX": self.id,
            "RESELLER_SIM_URL": self._control.url,
            "RESELLER_SIM_KEY": self.api_key,
            "RESELLER_SIM_SECRET": self.api_secret,
            "RESELLER_SIM_TOKEN": self._control.token or "",
            "RESELLER_SIM_CONTROL_TOKEN": self._control.token or "",
        }
        return {name: value for name, value in wanted.items() if value} | bypass(os.environ, self.url)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} at {self.url}>"
