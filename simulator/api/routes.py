"""The reseller API as one table: path, method, and what answers there (SPEC 4.1)."""

from collections.abc import Mapping

from simulator.api import account, legacy, payments, tokens
from simulator.api.billers import BillersEndpoint
from simulator.api.catalog import CatalogEndpoint
from simulator.api.exchange import Access, Endpoint
from simulator.api.options import OptionsEndpoint
from simulator.api.refusals import denied, denied_at_catalog, invalid_parameters
from simulator.wire.tokens import PATH, REFRESH_PATH

OPEN, LEGACY = Access.OPEN, Access.LEGACY

Routes = Mapping[str, Mapping[str, Endpoint]]


def routes() -> Routes:
    """Endpoints by path, then by method; made anew for each application, since some keep what they encoded."""
    return {
        PATH: {
            "POST": Endpoint(tokens.token, invalid_parameters, tokens.denied_at_token, "token-request", "form", OPEN),
        },
        REFRESH_PATH: {
            "POST": Endpoint(
                tokens.refresh, invalid_parameters, tokens.denied_at_token, "token-refresh-request", "form", OPEN
            ),
        },
        "/v2/product-list": {
            "GET": Endpoint(legacy.product_list, legacy.invalid_parameters, denied, access=LEGACY),
        },
        "/v2/subproducts": {
            "GET": Endpoint(
                legacy.subproducts, legacy.invalid_parameters, denied, "subproducts-query", "query", LEGACY
            ),
        },
        "/v2/catalog": {
            "GET": Endpoint(CatalogEndpoint(), invalid_parameters, denied_at_catalog, "catalog-query", "query"),
        },
        "/v2/options": {
            "GET": Endpoint(OptionsEndpoint(), invalid_parameters, denied, "options-query", "query"),
        },
        "/v1/interbank/billers": {
            "GET": Endpoint(BillersEndpoint(), invalid_parameters, denied, "billers-query", "query", LEGACY),
        },
        "/v2/topup": {
            "POST": Endpoint(
                payments.topup, payments.invalid_request, denied, "topup-request", "body", LEGACY, may_want_key=True
            ),
        },
        "/v2/balance": {
            "GET": Endpoint(account.balance, invalid_parameters, denied),
        },
        "/v2/callback-url": {
            "GET": Endpoint(account.read_callback_url, invalid_parameters, denied),
            "POST": Endpoint(account.set_callback_url, invalid_parameters, denied, "callback-url-query", "query"),
        },
    }
