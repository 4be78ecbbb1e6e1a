"""The reseller API as one table: path, method, and what answers there (SPEC 4.1)."""

from collections.abc import Mapping

from simulator.api import account, cases, payments, products, records
from simulator.api.catalog import CatalogEndpoint
from simulator.api.exchange import Endpoint
from simulator.api.refusals import denied, denied_at_catalog, invalid_parameters

Routes = Mapping[str, Mapping[str, Endpoint]]


def routes() -> Routes:
    """Endpoints by path, then by method; made anew for each application, since the catalog keeps a cache."""
    return {
        "/v2/catalog": {
            "GET": Endpoint(CatalogEndpoint(), invalid_parameters, denied_at_catalog, "catalog-query", "query"),
        },
        "/v2/topup": {
            "POST": Endpoint(payments.topup, payments.invalid_request, denied, "topup-request", "body"),
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
            "GET": Endpoint(records.transactions, invalid_parameters, denied, "transactions-query", "query"),
        },
        "/v2/balance-statement": {
            "GET": Endpoint(records.balance_statement, invalid_parameters, denied, "balance-statement-query", "query"),
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
    }
