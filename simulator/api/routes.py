"""The reseller API as one table: path, method, endpoint (SPEC 4.1), with path look-up."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from simulator.api import account_endpoints, catalog_endpoints, delivery_endpoints, payment_endpoints, token_credentials
from simulator.api.call import Access, ApiCall, ApiEndpoint, Problems, Reply
from simulator.api.refusals import invalid_parameters
from simulator.api.token_credentials import closed_to_token, holder_of
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire import error_bodies
from simulator.wire.token_answers import PATH, REFRESH_PATH

OPEN, LEGACY = Access.OPEN, Access.LEGACY

Methods = Mapping[str, ApiEndpoint]
Routes = Mapping[str, Methods]


def endpoint(
    handle: Callable[[ApiCall], Reply],
    *,
    query: str = "",
    body: str = "",
    form: str = "",
    invalid: Callable[[ApiCall, Problems], Reply] = invalid_parameters,
    denied: Callable[[str, str], Any] = error_bodies.coded,
    **more: Any,
) -> ApiEndpoint:
    """Return an endpoint with the usual refusals; `query`, `body` or `form` is the schema of its input."""
    source = "query" if query else "body" if body else "form" if form else ""
    return ApiEndpoint(
        handle=handle, invalid=invalid, denied=denied, schema=query or body or form, source=source, **more
    )


def _denied_at_token(code: str, message: str) -> Any:
    return error_bodies.parameters(message, {})


_SHOW_CATALOG: Final = endpoint(
    catalog_endpoints.catalog, query="catalog-query", denied=error_bodies.catalog_unauthorized
)
_TOKEN: Final[Any] = {"denied": _denied_at_token, "access": OPEN, "is_deprecated": True}
_LEGACY: Final[Any] = {"access": LEGACY, "is_deprecated": True}
_TOPUP: Final = endpoint(
    payment_endpoints.topup,
    body="topup-request",
    invalid=payment_endpoints.invalid_topup,
    access=LEGACY,
    may_want_key=True,
)
RESELLER_ROUTES: Final[Routes] = {
    PATH: {"POST": endpoint(token_credentials.token, form="token-request", **_TOKEN)},
    REFRESH_PATH: {"POST": endpoint(token_credentials.refresh, form="token-refresh-request", **_TOKEN)},
    "/v2/product-list": {"GET": endpoint(catalog_endpoints.product_list, **_LEGACY)},
    "/v2/subproducts": {"GET": endpoint(catalog_endpoints.subproducts, query="subproducts-query", **_LEGACY)},
    "/v2/catalog": {"GET": _SHOW_CATALOG},
    "/v2/options": {"GET": endpoint(catalog_endpoints.options, query="options-query")},
    "/v1/interbank/billers": {"GET": endpoint(catalog_endpoints.billers, query="billers-query", access=LEGACY)},
    "/v2/topup": {"POST": _TOPUP},
    "/v2/transactions/check": {
        "POST": endpoint(payment_endpoints.check, body="check-request", invalid=payment_endpoints.invalid_case)
    },
    "/v2/transactions/void": {
        "POST": endpoint(payment_endpoints.void, body="void-request", invalid=payment_endpoints.invalid_case)
    },
    "/v2/networkstatus": {"GET": endpoint(payment_endpoints.show_network, query="networkstatus-query")},
    "/v2/bill-presentment": {
        "GET": endpoint(payment_endpoints.show_bill, query="bill-query", invalid=payment_endpoints.invalid_bill)
    },
    "/v2/transactions": {"GET": endpoint(account_endpoints.transactions, query="transactions-query")},
    "/v2/balance-statement": {"GET": endpoint(account_endpoints.balance_statement, query="balance-statement-query")},
    "/v2/balance": {"GET": endpoint(account_endpoints.balance)},
    "/v2/low-balance-threshold": {
        "POST": endpoint(account_endpoints.set_threshold, query="low-balance-threshold-query")
    },
    "/v2/callback-url": {
        "GET": endpoint(account_endpoints.read_url),
        "POST": endpoint(account_endpoints.set_url, query="callback-url-query"),
    },
    "/v2/balance-webhook": {
        "GET": endpoint(account_endpoints.read_webhook),
        "PUT": endpoint(account_endpoints.put_webhook, body="webhook-request"),
        "DELETE": endpoint(account_endpoints.remove_webhook),
    },
    "/v2/balance-webhook/enabled": {
        "PATCH": endpoint(account_endpoints.enable_webhook, body="webhook-enabled-request")
    },
    "/v2/balance-webhook/rotate-secret": {"POST": endpoint(account_endpoints.rotate_secret)},
    "/v2/balance-webhook/deliveries": {"GET": endpoint(delivery_endpoints.list_all, query="deliveries-query")},
    "/v2/balance-webhook/deliveries/replay-bulk": {
        "POST": endpoint(delivery_endpoints.replay_bulk, body="replay-bulk-request")
    },
    "/v2/balance-webhook/deliveries/{jobId}": {"GET": endpoint(delivery_endpoints.show)},
    "/v2/balance-webhook/deliveries/{jobId}/replay": {"POST": endpoint(delivery_endpoints.replay)},
}
"""The endpoints by path, then by method."""


class PathTable:
    """A look-up of paths: `exact` holds paths without parameters; `match` resolves all others (SPEC 4.20)."""

    def __init__(self, routes: Routes) -> None:
        self.known = list(routes)
        self.exact = {path: methods for path, methods in routes.items() if "{" not in path}
        self._templates: dict[int, list[tuple[list[str], Methods]]] = {}
        for path, methods in routes.items():
            if "{" in path:
                parts = path.split("/")
                self._templates.setdefault(len(parts), []).append((parts, methods))

    def documented(self, method: str, path: str) -> tuple[str, str]:
        """Return method and path as the contract writes them, with parameters in braces; `*` if unknown."""
        template, methods = ([path], self.exact[path]) if path in self.exact else self._find(path)
        return method if method in (methods or ()) else "*", "/".join(template) or "*"

    def match(self, path: str) -> tuple[Methods | None, Mapping[str, str]]:
        """Return the methods of a path with parameters, and their values; a parameter is one non-empty segment."""
        template, methods = self._find(path)
        pairs = zip(template, path.split("/"), strict=methods is not None)
        return methods, {wanted[1:-1]: part for wanted, part in pairs if wanted[:1] == "{"}

    def _find(self, path: str) -> tuple[list[str], Methods | None]:
        """Return the matching template, split into segments, and its methods; no segments without a match."""
        parts = path.split("/")
        for template, methods in self._templates.get(len(parts), ()):
            pairs = zip(template, parts, strict=True)
            if all(part if wanted[:1] == "{" else wanted == part for wanted, part in pairs):
                return template, methods
        return [], None


def judge_unsigned(
    paths: PathTable, sandbox: LiveSandbox, method: str, path: str, headers: Mapping[bytes, bytes]
) -> tuple[str, str] | None:
    """Return `valid` or the code of the refusal of an unsigned request, with the reason; None if required credentials
    are absent. Nothing is sent or changed."""
    endpoint = (paths.exact.get(path) or paths.match(path)[0] or {}).get(method.upper())
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
