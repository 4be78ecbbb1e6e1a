"""The documented refusals of requests that a schema allows: business, what exists, and what JSON Schema cannot say.

Rows of `reasons.Reason`: operations, status, what is said, where it is documented, why.
"""

Row = tuple[str, int, str, str, str]

PAYMENT_REFUSALS = "Invalid_(Request|Product|Account|Extras|Denomination)|Insufficient_Balance"
_DAY = "must be a day of the calendar|ends before it begins.*|.* is before .*"
_URL = "the address .*|an inbox name is .*|the URL .*|must be .*|port .*"

RESELLER: list[Row] = [
    (".*", 400, "unknown_rule: .*", "Headers of every response of the reseller API", "X-Sim-Rule names no rule"),
    ("createToken", 401, ".*", "SPEC 4.2", "wrong username or password"),
    ("refreshToken", 401, ".*", "SPEC 4.3", "a refresh token that was never issued"),
    ("createPayment", 400, PAYMENT_REFUSALS, "check-order", "product, account, extras, amount and balance decide"),
    ("createPayment", 400, ".*(plan|Plan|code).*", "SPEC 4.11", "plan-code validation (44)"),
    ("(dispute|void)Payment", 400, "trxid: there is no transaction of this (refid|trxid)", "SPEC 4.12", "unknown"),
    ("listTransactions", 400, f"date: ({_DAY})", "history-parameters", "a date that does not exist"),
    (
        "listTransactions",
        400,
        "product: must be a product of the catalog",
        "history-unknown-product",
        "unknown product",
    ),
    ("getBalanceStatement", 400, f"date: ({_DAY})", "SPEC 4.17", "a date that does not exist"),
    (
        "getNetworkStatus",
        400,
        "product: must be a product of the catalog",
        "network-inactive-product",
        "unknown product",
    ),
    ("getBill", 400, "[a-zA-Z0-9- ]+", "bill-400", "product, biller, Ref-2, account or amount"),
    ("getOptions", 404, "There are no options for the field .*", "SPEC 4.5", "unknown product or field"),
    ("getOptions", 400, "account_number: is required.*", "options-dependencies", "a dynamic field needs the account"),
    ("listSubproducts", 400, "account_number: is required.*", "SPEC 4.8", "a dynamic field needs the account"),
    ("listSubproducts", 400, "product_code: is not a product on sale", "subproducts-unknown", "unknown or not on sale"),
    ("getBillers", 400, "page: must be used with limit", "SPEC 4.6", "no parameter can depend on another in OpenAPI"),
    ("setLowBalanceThreshold", 400, "amount: must be an amount.*", "amount-spelling", "at least 1, two decimals"),
    ("setCallbackUrl|putBalanceWebhook", 400, f"url: ({_URL})", "webhook-config-400", "not an address to call"),
    ("listDeliveries", 400, "cursor: is not a cursor of this list.*", "deliveries-cursor", "cursors are ours to make"),
    ("listDeliveries", 400, "(from|to): must be an ISO 8601 .*", "deliveries-from-to", "not a date or a time"),
    ("(get|replay)Delivery", 404, "There is no such delivery.*", "delivery-404", "unknown"),
    ("replayDelivery", 400, "jobId: only failed deliveries can be replayed.*", "SPEC 4.20", "it succeeded"),
    ("replayDelivery", 429, "replay_limit.*|.*three times.*", "SPEC 4.20", "the fourth replay of an event"),
    ("(enable|get|rotate).*Webhook.*", 404, ".*", "webhook-none", "there is none"),
]

# What scenario files cannot say either: JSON Schema has no word for it.
_SCENARIO = (
    ".*(a key is text|a number has at most 40 digits|text has no control characters.*|there is no .* in the catalog|"
    "a secret of .*|'secret' is missing.*|a threshold is at least 1 .*|must be an IP address .*|only a file that .*|"
    "there is no key .*|.*has more than 15 digits before the point.*|'[a-z_]+' is missing.*|must be .*)"
)
_REPLY = (
    "(a closed connection has no .*|a mapping must have at least 1 keys|a reply by time has one of .*|"
    "text has no control characters.*|a window .*|'from' .*|.* ends before .*)"
)
_ALL_OF_A_SANDBOX = "(?!createSandbox|listSandboxes).*"

CONTROL: list[Row] = [
    (_ALL_OF_A_SANDBOX, 404, "unknown_sandbox: .*", "Sandboxes", "no sandbox has this id"),
    (".*", 404, "unknown_(reseller|api_key): .*", "Resellers", "no such reseller or key"),
    (".*", 404, "unknown_(rule): .*", "Rules", "no rule has this id"),
    (".*", 404, "unknown_(product|category|group): .*", "Resellers", "not in the catalog"),
    (".*", 404, "unknown_(request|transaction|delivery|callback): .*", "What happened", "unknown, or evicted"),
    ("deleteSandbox", 409, "default_stays: .*", "Sandboxes", "the default sandbox stays"),
    ("createSandbox", 409, "sandbox_exists: .*", "Sandboxes", "the id is taken"),
    ("addReseller", 409, "reseller_exists: .*", "Resellers", "the code is taken"),
    ("addRule", 409, "rule_exists: .*", "Rules", "the name is taken"),
    (
        "createSandbox",
        400,
        "bad_request: (id|seed|credentials): there is no parameter .*",
        "Sandboxes",
        "beside YAML only",
    ),
    ("createSandbox", 400, "bad_scenario: must be a scenario, .*", "Sandboxes", "the file is no scenario"),
    ("createSandbox", 400, "bad_scenario: this file is empty; .*", "Sandboxes", "the file is no scenario"),
    ("createSandbox|addRule|addReseller|change.*", 400, f"bad_scenario: {_SCENARIO}", "Rules", "as in scenario files"),
    (
        "createSandbox",
        400,
        "(bad_request|bad_clock.*|no_scenarios_folder|unknown_scenario|bad_scenario): .*",
        "Sandboxes",
        "id, clock, name",
    ),
    ("addDeposit", 400, "(invalid_amount|bad_request): amount: .*", "Resellers", "positive, two decimals, 15 digits"),
    ("changeSettings", 400, "bad_request: ip_allowlist.*", "Resellers", "addresses and networks"),
    ("(set|advance)Clock", 400, "bad_request: (now|to|seconds): .*", "Time", "ISO 8601, not back, before 2200"),
    ("setClock", 400, "(bad_clock_rate|bad_request): rate: .*", "Time", "the rate of xN is from 0.01 to 100000"),
    ("setClock", 400, "clock_.*|bad_clock.*", "Time", "the time never goes back"),
    ("advanceClock", 400, "bad_request: send exactly one .*", "Time", "seconds, to or until"),
    (
        "setInboxReplies",
        400,
        f"bad_request: (replies|during)[.][0-9]+.*: {_REPLY}",
        "The inbox",
        "as in scenario files",
    ),
    ("replaySandboxDelivery", 409, "not_failed.*|.*only failed.*|.*succeeded.*", "What happened", "it succeeded"),
    ("replaySandboxDelivery", 429, ".*", "What happened", "the fourth replay of an event"),
]
