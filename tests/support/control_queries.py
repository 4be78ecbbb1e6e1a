"""The queries of the control API and of the proxy's: which schema each endpoint validates them with."""

_ONE = "/_sim/sandboxes/{sandbox}"

QUERIES = {
    ("get", "/_sim/scenarios"): "scenarios-query",
    ("get", "/_sim/scenarios/{name}"): "scenario-query",
    ("post", "/_sim/sandboxes"): "sandbox-query",
    ("get", f"{_ONE}/due"): "due-query",
    ("get", f"{_ONE}/holds"): "holds-query",
    ("get", f"{_ONE}/rules"): "rules-query",
    ("get", f"{_ONE}/resellers"): "resellers-query",
    ("patch", f"{_ONE}/catalog/products/{{code}}"): "product-change-query",
    ("get", f"{_ONE}/requests"): "requests-query",
    ("get", f"{_ONE}/requests.har"): "requests-har-query",
    ("get", f"{_ONE}/requests/{{n}}"): "request-query",
    ("get", f"{_ONE}/tape"): "tape-query",
    ("get", f"{_ONE}/transactions"): "sandbox-transactions-query",
    ("get", f"{_ONE}/catalog"): "sandbox-catalog-query",
    ("get", f"{_ONE}/figures"): "figures-query",
    ("get", f"{_ONE}/ledger"): "ledger-query",
    ("get", f"{_ONE}/callbacks"): "callbacks-query",
    ("get", f"{_ONE}/notifications"): "notifications-query",
    ("get", f"{_ONE}/deliveries"): "sandbox-deliveries-query",
    ("get", f"{_ONE}/events"): "events-query",
    ("get", "/_sim/events"): "events-query",
    ("get", f"{_ONE}/inbox"): "inboxes-query",
    ("get", f"{_ONE}/inbox/{{name}}"): "inbox-query",
}

PROXY_QUERIES = {
    ("get", f"{_ONE}/requests"): "observed-requests-query",
    ("get", f"{_ONE}/requests.har"): "observed-har-query",
    ("get", f"{_ONE}/transactions"): "observed-payments-query",
    ("get", f"{_ONE}/callbacks"): "observed-callbacks-query",
    ("get", f"{_ONE}/departures"): "departures-query",
}
