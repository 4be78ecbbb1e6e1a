"""What the service answers to the credentials of a request without an API key, for who only asks (SPEC 5.4)."""

from collections.abc import Mapping

from simulator.api.bearers import closed_to_token, holder_of
from simulator.api.call import Access, Endpoint
from simulator.api.routes import PathTable
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.runtime.live_sandbox import LiveSandbox

MISSING = "missing_api_key"


class UnsignedJudge:
    """Judges such requests by the endpoints of `paths`. Nothing is sent, and nothing changes."""

    def __init__(self, paths: PathTable) -> None:
        self._paths = paths

    def __call__(
        self, sandbox: LiveSandbox, method: str, path: str, headers: Mapping[bytes, bytes]
    ) -> tuple[str, str] | None:
        """`valid` or the code of the refusal, and why; None for a request without any credentials that needs some."""
        endpoint = self._endpoint(method, path)
        if endpoint is not None and endpoint.access is Access.OPEN:
            return "valid", "this endpoint takes no credentials in its headers"
        if names.AUTHORIZATION not in headers:
            return None
        now = sandbox.clock.now()
        access = Access.SIGNED if endpoint is None else endpoint.access
        found = holder_of(sandbox, access, headers[names.AUTHORIZATION], now)
        if isinstance(found, Denied):
            return found.code, found.diagnosis
        closed = None if endpoint is None else closed_to_token(endpoint, found, now)
        if closed is not None:
            return closed.code, closed.diagnosis
        return "valid", f"the bearer token is one of {found.code}: no signature is needed"

    def _endpoint(self, method: str, path: str) -> Endpoint | None:
        methods = self._paths.exact.get(path) or self._paths.match(path)[0] or {}
        return methods.get(method.upper())
