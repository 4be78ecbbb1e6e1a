"""The reseller API as one table: path, method, endpoint (SPEC 4.1)."""

from collections.abc import Mapping

from simulator.api import (
    account,
    cases,
    deliveries,
    history,
    legacy,
    payments,
    products,
    tokens,
    webhooks,
)
from simulator.api.billers import BillersEndpoint
from simulator.api.call import Access, Endpoint
from simulator.api.catalog import CatalogEndpoint
from simulator.api.options import OptionsEndpoint
from simulator.api.refusals import denied, denied_at_catalog, invalid_parameters
from simulator.wire.tokens import PATH, REFRESH_PATH

OPEN, LEGACY = Access.OPEN, Access.LEGACY

Routes = Mapping[str, Mapping[str, Endpoint]]


def routes() -> Routes:
    """Endpoints by path, then by method; built per application, since some have caches."""
    return {
        PATH: {
            "POST": Endpoint(
                tokens.token,
                invalid_parameters,
                tokens.denied_at_token,
                "token-request",
                "form",
                OPEN,
                is_deprecated=True,
            ),
        },
        REFRESH_PATH: {
            "POST": Endpoint(
                tokens.refresh,
                invalid_parameters,
                tokens.denied_at_token,
                "token-refresh-request",
                "form",
                OPEN,
                is_deprecated=True,
            ),
        },
        "/v2/product-list": {
            "GET": Endpoint(legacy.product_list, invalid_parameters, denied, access=LEGACY, is_deprecated=True),
        },
        "/v2/subproducts": {
            "GET": Endpoint(
                legacy.subproducts, invalid_parameters, denied, "subproducts-query", "query", LEGACY, is_deprecated=True
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
        "/v2/transactions/check": {
            "POST": Endpoint(cases.check, cases.invalid_request, denied, "check-request", "body"),
        },
        "/v2/transactions/void": {
            "POST": Endpoint(cases.void, cases.invalid_request, denied, "void-request", "body"),
        },
        "/v2/networkstatus": {
            "GET": Endpoint(products.network, invalid_parameters, denied, "networkstatus-query", "query"),
        },
        "/v2/bill-presentment": {
            "GET": Endpoint(products.bill, products.invalid_bill, denied, "bill-query", "query"),
        },
        "/v2/transactions": {
            "GET": Endpoint(history.transactions, invalid_parameters, denied, "transactions-query", "query"),
        },
        "/v2/balance-statement": {
            "GET": Endpoint(history.balance_statement, invalid_parameters, denied, "balance-statement-query", "query"),
        },
        "/v2/balance": {
            "GET": Endpoint(account.balance, invalid_parameters, denied),
        },
        "/v2/low-balance-threshold": {
            "POST": Endpoint(
                account.set_low_balance_threshold, invalid_parameters, denied, "low-balance-threshold-query", "query"
            ),
        },
        "/v2/callback-url": {
            "GET": Endpoint(account.read_callback_url, invalid_parameters, denied),
            "POST": Endpoint(account.set_callback_url, invalid_parameters, denied, "callback-url-query", "query"),
        },
        "/v2/balance-webhook": {
            "GET": Endpoint(webhooks.read, invalid_parameters, denied),
            "PUT": Endpoint(webhooks.put, invalid_parameters, denied, "webhook-request", "body"),
            "DELETE": Endpoint(webhooks.remove, invalid_parameters, denied),
        },
        "/v2/balance-webhook/enabled": {
            "PATCH": Endpoint(webhooks.enable, invalid_parameters, denied, "webhook-enabled-request", "body"),
        },
        "/v2/balance-webhook/rotate-secret": {
            "POST": Endpoint(webhooks.rotate, invalid_parameters, denied),
        },
        "/v2/balance-webhook/deliveries": {
            "GET": Endpoint(deliveries.list_all, invalid_parameters, denied, "deliveries-query", "query"),
        },
        "/v2/balance-webhook/deliveries/replay-bulk": {
            "POST": Endpoint(deliveries.replay_bulk, invalid_parameters, denied, "replay-bulk-request", "body"),
        },
        "/v2/balance-webhook/deliveries/{jobId}": {
            "GET": Endpoint(deliveries.show, invalid_parameters, denied),
        },
        "/v2/balance-webhook/deliveries/{jobId}/replay": {
            "POST": Endpoint(deliveries.replay, invalid_parameters, denied),
        },
    }
