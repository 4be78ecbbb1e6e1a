"""The reseller API as one table: path, method, endpoint (SPEC 4.1)."""

from collections.abc import Mapping
from typing import Any, Final

from simulator.api import account_endpoints, catalog_endpoints, delivery_endpoints, payment_endpoints, token_credentials
from simulator.api.call import Access, ApiEndpoint
from simulator.api.token_credentials import closed_to_token, holder_of
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.contract.endpoints import PathTable
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire import error_bodies
from simulator.wire.token_answers import PATH, REFRESH_PATH

Routes = Mapping[str, Mapping[str, ApiEndpoint]]

_TOKEN: Final[Any] = {"denied": error_bodies.without_fields, "access": Access.OPEN, "is_deprecated": True}
_LEGACY: Final[Any] = {"access": Access.LEGACY, "is_deprecated": True}
_CATALOG: Final = ApiEndpoint(
    catalog_endpoints.catalog, "query", "catalog-query", denied=error_bodies.catalog_unauthorized
)
_TOPUP: Final = ApiEndpoint(
    payment_endpoints.topup,
    "body",
    "topup-request",
    invalid=payment_endpoints.invalid_topup,
    access=Access.LEGACY,
    may_want_key=True,
)
RESELLER_ROUTES: Final[Routes] = {
    PATH: {"POST": ApiEndpoint(token_credentials.token, "form", "token-request", **_TOKEN)},
    REFRESH_PATH: {"POST": ApiEndpoint(token_credentials.refresh, "form", "token-refresh-request", **_TOKEN)},
    "/v2/product-list": {"GET": ApiEndpoint(catalog_endpoints.product_list, **_LEGACY)},
    "/v2/subproducts": {"GET": ApiEndpoint(catalog_endpoints.subproducts, "query", "subproducts-query", **_LEGACY)},
    "/v2/catalog": {"GET": _CATALOG},
    "/v2/options": {"GET": ApiEndpoint(catalog_endpoints.options, "query", "options-query")},
    "/v1/interbank/billers": {
        "GET": ApiEndpoint(catalog_endpoints.billers, "query", "billers-query", access=Access.LEGACY)
    },
    "/v2/topup": {"POST": _TOPUP},
    "/v2/transactions/check": {
        "POST": ApiEndpoint(payment_endpoints.check, "body", "check-request", invalid=payment_endpoints.invalid_case)
    },
    "/v2/transactions/void": {
        "POST": ApiEndpoint(payment_endpoints.void, "body", "void-request", invalid=payment_endpoints.invalid_case)
    },
    "/v2/networkstatus": {"GET": ApiEndpoint(payment_endpoints.show_network, "query", "networkstatus-query")},
    "/v2/bill-presentment": {
        "GET": ApiEndpoint(payment_endpoints.show_bill, "query", "bill-query", invalid=payment_endpoints.invalid_bill)
    },
    "/v2/transactions": {"GET": ApiEndpoint(account_endpoints.transactions, "query", "transactions-query")},
    "/v2/balance-statement": {
        "GET": ApiEndpoint(account_endpoints.balance_statement, "query", "balance-statement-query")
    },
    "/v2/balance": {"GET": ApiEndpoint(account_endpoints.balance)},
    "/v2/low-balance-threshold": {
        "POST": ApiEndpoint(account_endpoints.set_threshold, "query", "low-balance-threshold-query")
    },
    "/v2/callback-url": {
        "GET": ApiEndpoint(account_endpoints.read_url),
        "POST": ApiEndpoint(account_endpoints.set_url, "query", "callback-url-query"),
    },
    "/v2/balance-webhook": {
        "GET": ApiEndpoint(account_endpoints.read_webhook),
        "PUT": ApiEndpoint(account_endpoints.put_webhook, "body", "webhook-request"),
        "DELETE": ApiEndpoint(account_endpoints.remove_webhook),
    },
    "/v2/balance-webhook/enabled": {
        "PATCH": ApiEndpoint(account_endpoints.enable_webhook, "body", "webhook-enabled-request")
    },
    "/v2/balance-webhook/rotate-secret": {"POST": ApiEndpoint(account_endpoints.rotate_secret)},
    "/v2/balance-webhook/deliveries": {"GET": ApiEndpoint(delivery_endpoints.list_all, "query", "deliveries-query")},
    "/v2/balance-webhook/deliveries/replay-bulk": {
        "POST": ApiEndpoint(delivery_endpoints.replay_bulk, "body", "replay-bulk-request")
    },
    "/v2/balance-webhook/deliveries/{jobId}": {"GET": ApiEndpoint(delivery_endpoints.show)},
    "/v2/balance-webhook/deliveries/{jobId}/replay": {"POST": ApiEndpoint(delivery_endpoints.replay)},
}
"""The endpoints by path, then by method."""
PATHS: Final = PathTable(RESELLER_ROUTES)


def judge_unsigned(
    sandbox: LiveSandbox, method: str, path: str, headers: Mapping[bytes, bytes]
) -> tuple[str, str] | None:
    """Return `valid` or the code of the refusal of an unsigned request, with the reason; None if required credentials
    are absent. Nothing is sent or changed. An unknown path is judged as the catalog is."""
    endpoint = (PATHS.exact.get(path) or PATHS.match(path)[1]).get(method.upper(), _CATALOG)
    if endpoint.access is Access.OPEN:
        return "valid", "this endpoint takes no credentials in its headers"
    if names.AUTHORIZATION not in headers:
        return None
    now = sandbox.clock.now()
    found = holder_of(sandbox, endpoint.access, headers[names.AUTHORIZATION], now)
    if not isinstance(found, Denied):
        found = closed_to_token(endpoint, found, now) or found
    if isinstance(found, Denied):
        return found.code, found.diagnosis
    return "valid", f"the bearer token belongs to {found.code}: no signature is needed"
