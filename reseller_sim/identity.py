"""A sandbox's name, credentials and records. The name and the credentials are known without a request."""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from reseller_sim import evidence
from reseller_sim.control import PAGE, REFUSED, TIMEOUT_S, Control, Query, WrongAnswer, below, pages
from reseller_sim.evidence import Story
from reseller_sim.exchange import bypass, real_monotonic
from reseller_sim.formats import check_path
from reseller_sim.receiver import Message, from_inbox
from reseller_sim.signatures import HMACAuth

__tracebackhide__ = True  # pytest shows the line of the test
POLL_S_MAX = 300.0


class Identity:
    """The name, address and credentials of a sandbox when it was created, found or reset.

    `url` is the base URL of its reseller API, `control_url` its address below the control API. `scenario` and `seed`
    describe the sandbox `id`. `resellers` have their credentials and first balances. `code`, `api_key`, `api_secret`
    (in Base64), and `username` and `password` for bearer tokens belong to the first reseller; they are empty if it
    lacks them.
    """

    def __init__(self, control: Control, described: Mapping[str, Any], *, is_ours: bool = False) -> None:
        self._control, self._is_ours = control, is_ours
        try:
            self._describe(described)
        except (LookupError, TypeError, AttributeError):
            raise WrongAnswer(f"{control.root} does not describe a sandbox as a simulator of this version") from None

    def _describe(self, described: Mapping[str, Any]) -> None:
        first = (described["resellers"] or [{}])[0]
        self.id: str = described["id"]
        self.scenario: str = described["scenario"]
        self.seed: int = described["seed"]
        self.resellers: list[dict[str, Any]] = described["resellers"]
        self.url = f"{self._control.root}/s/{self.id}"
        self._path = below("/sandboxes", self.id)
        self.control_url = self._control.url + self._path
        self.code, self.api_key, self.api_secret, self.username, self.password = (
            str(first.get(name) or "") for name in ("code", "api_key", "api_secret", "username", "password")
        )
        self._signs_by_own_clock = described.get("clock", {}).get("signature") == "sandbox"
        self._described = described

    @property
    def auth(self) -> HMACAuth:
        """Signs as the first reseller, for httpx, httpx2 and requests. Raises `LookupError` without key or secret."""
        if not (self.api_key and self.api_secret):
            raise LookupError(f"the first reseller of {self.id} has no API key to sign with, or the token may not read")
        return HMACAuth(self.api_key, self.api_secret)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that `reseller-sim exec` sets, and NO_PROXY of this process with the simulator's host."""
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


class Records(Identity):
    """Read access to a sandbox."""

    def ask(
        self, method: str, path: str = "", json: Any = None, *, query: Query | None = None, timeout_s: float = TIMEOUT_S
    ) -> Any:
        """Send a request to the control API below this sandbox, for endpoints without a method here."""
        check_path(path or "/")
        return self._control.ask(method, self._path + path, json, query=query, timeout_s=timeout_s)

    @property
    def now(self) -> datetime:
        """The sandbox's time."""
        return datetime.fromisoformat(self.clock()["now"])

    def clock(self) -> dict[str, Any]:
        """Return the clock: `mode`, `now`, the number of `pending` events, and the time `next_due`."""
        return dict(self.ask("GET", "/clock"))

    def balance(self, reseller: str | None = None) -> Decimal:
        """Return the balance of a wallet, by default the first reseller's. Raises `LookupError` for an unknown code."""
        code = reseller or self.code
        balances = {one["code"]: Decimal(str(one["balance"])) for one in self.ask("GET")["resellers"]}
        if code not in balances:
            raise LookupError(f"there is no reseller {code!r}: there are {', '.join(balances)}")
        return balances[code]

    def transaction(self, refid: str) -> dict[str, Any] | None:
        """Return the payment with a refid, the latest one if resellers share it; None without any."""
        return next(iter(self._listed("transactions", {"refid": refid})), None)

    def transactions(self, /, **filters: str | int) -> list[dict[str, Any]]:
        """Return payments, newest first; filters `refid`, `reseller`."""
        return self._listed("transactions", filters)

    def story(self, refid: str) -> Story:
        """Return all that happened to a payment. Raises `LookupError` for a refid that no payment has."""
        found = self.transaction(refid)
        if found is None:
            raise LookupError(evidence.no_payment(self, refid))
        return Story(self.ask("GET", below("/transactions", found["trxid"])))

    def requests(self, /, **filters: str | int) -> list[dict[str, Any]]:
        """Return the journal, newest first, by the filters of the control API, such as `path`, `status_min` and
        `error_not`. A path that no request had gives an empty list."""
        return self._listed("requests", filters)

    def refused(self) -> list[dict[str, Any]]:
        """Return the requests that were answered with a status from 400, newest first, each with its `diagnosis`."""
        return [row for row in self.requests() if row["status"] >= REFUSED]

    def callbacks(self, /, **filters: str | int) -> list[dict[str, Any]]:
        """Return every callback attempt and its outcome, oldest first; filters `refid`, `trxid`."""
        return self._listed("callbacks", filters)

    def _listed(self, member: str, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        for name, value in filters.items():
            if value is None or (value == "" and member != "requests"):  # requests have a refid, an error or none
                raise ValueError(f"{name} must have a value, not {value!r}")
        return list(pages(self._control.ask, f"{self._path}/{member}", member, {**filters, "limit": PAGE}))

    def audit(self) -> dict[str, Any]:
        """Return the obligations of a client, each with a verdict on this sandbox's client."""
        return dict(self.ask("GET", "/audit"))

    def inbox(self, name: str = "callbacks") -> list[Message]:
        """Return the messages of an inbox, oldest first."""
        return list(self._messages(name, 0))

    def _messages(self, inbox: str, timeout_s: float) -> Iterator[Message]:
        """Yield every message, oldest first, waiting for more until the time has passed."""
        ends, cursor = real_monotonic() + timeout_s, 0
        while True:
            left_s = max(ends - real_monotonic(), 0.0)
            poll_s = min(left_s, POLL_S_MAX)
            query = {"cursor": cursor, "wait_for": 1, "timeout": round(poll_s, 3)}
            found = self.ask("GET", below("/inbox", inbox), query=query, timeout_s=poll_s + TIMEOUT_S)
            for item in found["items"]:
                cursor = item["n"]
                yield from_inbox(item, urlsplit(found["url"]).path)
            if not found["items"] and poll_s == left_s:
                return
