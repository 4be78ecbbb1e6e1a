"""The reseller API as one table: path, method, endpoint (SPEC 4.1), and how a path is looked up in it."""

from collections.abc import Mapping

from simulator.api import (
    alerts,
    bills,
    callbacks,
    cases,
    deliveries,
    history,
    legacy,
    network,
    payments,
    statement,
    tokens,
    wallet,
    webhooks,
)
from simulator.api.billers import BillersEndpoint
from simulator.api.call import Access, Endpoint
from simulator.api.catalog import CatalogEndpoint
from simulator.api.options import OptionsEndpoint
from simulator.api.refusals import denied, denied_at_catalog, invalid_parameters
from simulator.wire.tokens import PATH, REFRESH_PATH

OPEN, LEGACY = Access.OPEN, Access.LEGACY

Methods = Mapping[str, Endpoint]
Routes = Mapping[str, Methods]


def routes() -> Routes:
    """Endpoints by path, then by method; built per application, since some have caches."""
    return {
        PATH: {
            "POST": Endpoint(
                handle=tokens.token,
                invalid=invalid_parameters,
                denied=tokens.denied_at_token,
                schema="token-request",
                source="form",
                access=OPEN,
                is_deprecated=True,
            ),
        },
        REFRESH_PATH: {
            "POST": Endpoint(
                handle=tokens.refresh,
                invalid=invalid_parameters,
                denied=tokens.denied_at_token,
                schema="token-refresh-request",
                source="form",
                access=OPEN,
                is_deprecated=True,
            ),
        },
        "/v2/product-list": {
            "GET": Endpoint(
                handle=legacy.product_list, invalid=invalid_parameters, denied=denied, access=LEGACY, is_deprecated=True
            ),
        },
        "/v2/subproducts": {
            "GET": Endpoint(
                handle=legacy.subproducts,
                invalid=invalid_parameters,
                denied=denied,
                schema="subproducts-query",
                source="query",
                access=LEGACY,
                is_deprecated=True,
            ),
        },
        "/v2/catalog": {
            "GET": Endpoint(
                handle=CatalogEndpoint(),
                invalid=invalid_parameters,
                denied=denied_at_catalog,
                schema="catalog-query",
                source="query",
            ),
        },
        "/v2/options": {
            "GET": Endpoint(
                handle=OptionsEndpoint(),
                invalid=invalid_parameters,
                denied=denied,
                schema="options-query",
                source="query",
            ),
        },
        "/v1/interbank/billers": {
            "GET": Endpoint(
                handle=BillersEndpoint(),
                invalid=invalid_parameters,
                denied=denied,
                schema="billers-query",
                source="query",
                access=LEGACY,
            ),
        },
        "/v2/topup": {
            "POST": Endpoint(
                handle=payments.topup,
                invalid=payments.invalid_request,
                denied=denied,
                schema="topup-request",
                source="body",
                access=LEGACY,
                may_want_key=True,
            ),
        },
        "/v2/transactions/check": {
            "POST": Endpoint(
                handle=cases.check, invalid=cases.invalid_request, denied=denied, schema="check-request", source="body"
            ),
        },
        "/v2/transactions/void": {
            "POST": Endpoint(
                handle=cases.void, invalid=cases.invalid_request, denied=denied, schema="void-request", source="body"
            ),
        },
        "/v2/networkstatus": {
            "GET": Endpoint(
                handle=network.show,
                invalid=invalid_parameters,
                denied=denied,
                schema="networkstatus-query",
                source="query",
            ),
        },
        "/v2/bill-presentment": {
            "GET": Endpoint(
                handle=bills.show, invalid=bills.invalid_request, denied=denied, schema="bill-query", source="query"
            ),
        },
        "/v2/transactions": {
            "GET": Endpoint(
                handle=history.transactions,
                invalid=invalid_parameters,
                denied=denied,
                schema="transactions-query",
                source="query",
            ),
        },
        "/v2/balance-statement": {
            "GET": Endpoint(
                handle=statement.balance_statement,
                invalid=invalid_parameters,
                denied=denied,
                schema="balance-statement-query",
                source="query",
            ),
        },
        "/v2/balance": {
            "GET": Endpoint(handle=wallet.balance, invalid=invalid_parameters, denied=denied),
        },
        "/v2/low-balance-threshold": {
            "POST": Endpoint(
                handle=alerts.set_threshold,
                invalid=invalid_parameters,
                denied=denied,
                schema="low-balance-threshold-query",
                source="query",
            ),
        },
        "/v2/callback-url": {
            "GET": Endpoint(handle=callbacks.read_url, invalid=invalid_parameters, denied=denied),
            "POST": Endpoint(
                handle=callbacks.set_url,
                invalid=invalid_parameters,
                denied=denied,
                schema="callback-url-query",
                source="query",
            ),
        },
        "/v2/balance-webhook": {
            "GET": Endpoint(handle=webhooks.read, invalid=invalid_parameters, denied=denied),
            "PUT": Endpoint(
                handle=webhooks.put, invalid=invalid_parameters, denied=denied, schema="webhook-request", source="body"
            ),
            "DELETE": Endpoint(handle=webhooks.remove, invalid=invalid_parameters, denied=denied),
        },
        "/v2/balance-webhook/enabled": {
            "PATCH": Endpoint(
                handle=webhooks.enable,
                invalid=invalid_parameters,
                denied=denied,
                schema="webhook-enabled-request",
                source="body",
            ),
        },
        "/v2/balance-webhook/rotate-secret": {
            "POST": Endpoint(handle=webhooks.rotate, invalid=invalid_parameters, denied=denied),
        },
        "/v2/balance-webhook/deliveries": {
            "GET": Endpoint(
                handle=deliveries.list_all,
                invalid=invalid_parameters,
                denied=denied,
                schema="deliveries-query",
                source="query",
            ),
        },
        "/v2/balance-webhook/deliveries/replay-bulk": {
            "POST": Endpoint(
                handle=deliveries.replay_bulk,
                invalid=invalid_parameters,
                denied=denied,
                schema="replay-bulk-request",
                source="body",
            ),
        },
        "/v2/balance-webhook/deliveries/{jobId}": {
            "GET": Endpoint(handle=deliveries.show, invalid=invalid_parameters, denied=denied),
        },
        "/v2/balance-webhook/deliveries/{jobId}/replay": {
            "POST": Endpoint(handle=deliveries.replay, invalid=invalid_parameters, denied=denied),
        },
    }


class PathTable:
    """Looks paths up: `exact` holds those without parameters; `match` resolves the few with parameters (SPEC 4.20)."""

    def __init__(self, routes: Routes) -> None:
        self.known = list(routes)
        self.exact = {path: methods for path, methods in routes.items() if "{" not in path}
        self._templates: dict[int, list[tuple[list[str], Methods]]] = {}
        for path, methods in routes.items():
            if "{" in path:
                parts = path.split("/")
                self._templates.setdefault(len(parts), []).append((parts, methods))

    def documented(self, method: str, path: str) -> tuple[str, str]:
        """Method and path as the contract writes them, with parameters in braces; `*` for an unknown one."""
        template, methods = ([path], self.exact[path]) if path in self.exact else self._find(path)
        return method if method in (methods or ()) else "*", "/".join(template) or "*"

    def match(self, path: str) -> tuple[Methods | None, Mapping[str, str]]:
        """The methods of a path with parameters, and their values; a parameter is one non-empty segment."""
        template, methods = self._find(path)
        pairs = zip(template, path.split("/"), strict=methods is not None)
        return methods, {wanted[1:-1]: part for wanted, part in pairs if wanted[:1] == "{"}

    def _find(self, path: str) -> tuple[list[str], Methods | None]:
        """The matching template, split into segments, and its methods; no segments when there is none."""
        parts = path.split("/")
        for template, methods in self._templates.get(len(parts), ()):
            pairs = zip(template, parts, strict=True)
            if all(part if wanted[:1] == "{" else wanted == part for wanted, part in pairs):
                return template, methods
        return [], None
