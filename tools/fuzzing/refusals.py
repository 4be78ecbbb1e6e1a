"""The documented refusals of requests that a schema allows: business, what exists, and what JSON Schema cannot say.

Rows of `reasons.Reason`: operations, status, what is said, where it is documented, what that place calls it, why.
"""

Row = tuple[str, int, str, str, str, str]

_DEPENDENT = "account_number: is required: the options of '[a-z]+' depend on the value of '[a-z]+'"
_WRONG = "The credentials are wrong; do not retry with the same ones[.]"
_UNKNOWN_RULE = "unknown_rule: X-Sim-Rule names .*, but the sandbox has no rule of that name[.]"
_HEADERS = "Headers of the reseller API"
_CURSOR = (
    "cursor: (is not a cursor of this list; send it exactly as the previous page returned it|"
    "belongs to another [a-zA-Z, ]+; omit the filters, or start again without the cursor)"
)
_PAYMENT = "Invalid_(Product|Account|Extras|Denomination)|Insufficient_Balance"
_BILL = "Ref-2 required|invalid (biller code|amount|account number|product)|Bill presentment is unavailable for .*"

RESELLER: list[Row] = [
    (".*", 400, _UNKNOWN_RULE, _HEADERS, "the name of the rule to use", "X-Sim-Rule names no rule"),
    ("createToken", 401, _WRONG, "SPEC 4.2", "401", "wrong username or password"),
    ("refreshToken", 401, _WRONG, "SPEC 4.3", "refresh_token", "a refresh token that was never issued"),
    ("createPayment", 400, _PAYMENT, "check-order", "product (41)", "product, account, extras and amount decide"),
    (
        *("(dispute|void)Payment", 400, "trxid: there is no transaction of this (refid|trxid)"),
        *("SPEC 4.12", "refid", "unknown"),
    ),
    (
        *("listTransactions", 400, "date: (must be a day of the calendar|ends before it begins)"),
        *("history-parameters", "A date that does not exist", "no such day"),
    ),
    (
        "getBalanceStatement",
        400,
        "date: (must be a day of the calendar|ends before it begins)",
        "SPEC 4.17",
        "`date`",
        "no such day",
    ),
    (
        *("listTransactions", 400, "product: must be a product of the catalog"),
        *("history-unknown-product", "a product that does not exist", "unknown product"),
    ),
    (
        *("getNetworkStatus", 400, "product: must be a product of the catalog"),
        *("network-inactive-product", "a product that is not in the catalog", "unknown product"),
    ),
    ("getBill", 400, _BILL, "bill-400", "biller, Ref-2, account, amount", "the first failed check"),
    (
        *("getOptions", 404, "There are no options for the field '.*' of a product '.*'[.]"),
        *("SPEC 4.5", "404", "unknown product or field"),
    ),
    ("getOptions", 400, _DEPENDENT, "options-dependencies", "account_number", "a dynamic field needs the account"),
    ("listSubproducts", 400, _DEPENDENT, "SPEC 4.8", "account_number", "a dynamic field needs the account"),
    (
        *("listSubproducts", 400, "product_code: is not a product on sale"),
        *("subproducts-unknown", "errors.product_code", "unknown or not on sale"),
    ),
    ("getBillers", 400, "page: must be used with limit", "SPEC 4.6", "limit", "one parameter depends on another"),
    (
        *("setLowBalanceThreshold", 400, "amount: must be an amount in RM of at least 1, with at most 15 digits, .*"),
        *("amount-spelling", "at most 15 digits", "at least 1, two decimals"),
    ),
    (
        *("setCallbackUrl|putBalanceWebhook", 400, "url: the address contains a space, a backslash or a control .*"),
        *("webhook-config-400", "an invalid webhook configuration", "what no pattern calls invisible"),
    ),
    ("listDeliveries", 400, _CURSOR, "deliveries-cursor", "a cursor of another list are 400", "cursors are ours"),
    (
        *("listDeliveries", 400, "(from|to): must be an ISO 8601 date or date-time such as .*"),
        *("deliveries-from-to", "ISO 8601 dates", "a day that does not exist"),
    ),
    (
        *("(get|replay)Delivery", 404, "There is no such delivery, or it was evicted from the log[.]"),
        *("delivery-404", "an unknown delivery", "unknown"),
    ),
    (
        *("replayDelivery", 400, "jobId: only failed deliveries can be replayed; this delivery succeeded"),
        *("SPEC 4.20", "failed", "it succeeded"),
    ),
    (
        *("replayDelivery", 429, "replay_limit_reached: This event has already been replayed 3 times[.]"),
        *("SPEC 4.20", "429", "the fourth replay of an event"),
    ),
]

# Limits of scenario files that JSON Schema cannot express either.
_PLACE = r"bad_scenario: ([^:]+: )?"  # with any keys
_OF_ANY_VALUE = (
    "(a number has at most 40 digits|text must not have control characters except tab and line feed|a key is text)"
)
_WRITTEN = "written as in a scenario"
_SANDBOX = "unknown_sandbox: there is no sandbox '.*'; GET /_sim/sandboxes lists them"

CONTROL: list[Row] = [
    (
        "(?!createSandbox|listSandboxes|getScenario).*",
        404,
        _SANDBOX,
        "Sandboxes",
        "`GET /_sim/sandboxes`",
        "no sandbox has this id",
    ),
    (
        *("getScenario", 404, "unknown_scenario: name: there is no .* '.*'; GET /_sim/scenarios lists them"),
        *("Scenarios", "404 `unknown_scenario`", "no such scenario"),
    ),
    (
        *("getScenario", 404, "unknown_scenario: name: there is no .* '.*' [(]did you mean '.*'[?][)]"),
        *("Scenarios", "404 `unknown_scenario`", "no such scenario, but a similar one"),
    ),
    (
        *("checkScenario", 400, "bad_request: text: text is the scenario in YAML; send it, or document instead"),
        *("Scenarios", "send its values as `document`", "text and document, or neither"),
    ),
    (
        *(
            "(check|save)Scenario",
            400,
            "no_scenarios_folder: (extends_dir|name): start the server with --scenarios DIR to .*",
        ),
        *("Scenarios", "400 `no_scenarios_folder`", "this server has no folder"),
    ),
    (
        *("sendProbes|addDeposit|changeSettings|addApiKey|revokeApiKey|changeProduct", 404),
        *("unknown_reseller: this sandbox has no reseller '.*'", "Resellers", "resellers/{code}", "no such reseller"),
    ),
    (
        *("revokeApiKey", 404, "unknown_api_key: reseller '.*' has no API key '.*'"),
        *("Resellers", "api-keys/{key}", "no such key"),
    ),
    ("removeRule", 404, "unknown_rule: there is no rule '.*'", "Rules", "rules/{rule}", "no such rule"),
    (
        *("changeProduct|setNetwork", 404, "unknown_product: this sandbox has no product '.*'.*"),
        *("Catalog", "catalog/products/{code}", "not in the catalog"),
    ),
    (
        *("changeCategory", 404, "unknown_category: this sandbox has no category '.*'"),
        *("Catalog", "catalog/categories/{id}", "not in the catalog"),
    ),
    (
        *("changeGroup", 404, "unknown_group: this sandbox has no group '.*'"),
        *("Catalog", "catalog/groups/{id}", "not in the catalog"),
    ),
    (
        *("(get|replay)Request(AsCurl)?", 404, "unknown_request: the journal has no such request, or has evicted it"),
        *("Journal", "requests/{n}", "unknown, or evicted"),
    ),
    (
        *("explainRequest", 400, "bad_request: (method|path): (method|path) is missing; send method and path, or curl"),
        *("The signing bench", "`{method, path, headers", "one way of giving it depends on the other"),
    ),
    (
        *("explainRequest", 400, "bad_request: [a-z0-9_]+: [a-z0-9_]+ is in the curl command; send one of the two"),
        *("The signing bench", "`{method, path, headers", "one way of giving it depends on the other"),
    ),
    (
        *("explainRequest", 400, "bad_request: body_base64: body_base64 (must be Base64|is the body in Base64; .*)"),
        *("The signing bench", "`{method, path, headers", "no Base64, or beside body"),
    ),
    (
        *("explainRequest", 400, "bad_request: (secret: secret must be Base64|headers: the headers have more than .*)"),
        *("The signing bench", "`{method, path, headers", "no Base64, or too much together"),
    ),
    (
        *(
            "explainRequest",
            400,
            "bad_request: (method: method must be a method of HTTP, .*|path: path must .*)",
        ),
        *("The signing bench", "`{method, path, headers", "no method or no path"),
    ),
    (
        *("explainRequest", 400, "bad_request: headers(: headers|[.].*: headers[.].*) must be .*"),
        *(
            "The signing bench",
            "as an object or as pairs of name",
            "published without its type, which generators cannot read",
        ),
    ),
    (
        *("explainRequest", 400, "bad_request: curl: (the command |--).*"),
        *("The signing bench", "The command is [read]", "no curl command that can be read"),
    ),
    (
        *("replayRequest", 409, "body_not_read: n: Its body .* was not read[.] So it cannot be sent again; .*"),
        *("Journal", "409 `body_not_read`", "a refusal came before the body was read"),
    ),
    (
        *("replayRequest", 409, "cannot_sign: n: its X-Api-Key has no secret in this sandbox, .*"),
        *("Journal", "409 `cannot_sign`", "no secret is known for the key"),
    ),
    (
        *(
            "(exportRequests|getFigures|list(Requests|Transactions|SandboxDeliveries|Notifications|Ledger|Products))",
            400,
        ),
        *("bad_request: reseller: reseller must be a reseller of this sandbox.*", "Lists and waiting"),
        *("an unknown reseller", "no such reseller"),
    ),
    (
        *("(list|export)Requests", 400, "bad_request: (rule|fault): (rule|fault) must be a rule that this .*"),
        *("Lists and waiting", "a rule or fault that the sandbox never had", "no such rule"),
    ),
    (
        *("getTransaction", 404, "unknown_transaction: this sandbox has no such transaction; [?]refid= finds by refid"),
        *("Journal", "transactions/{trxid}", "unknown"),
    ),
    (
        *("sendCallback", 404, "unknown_transaction: this sandbox has no transaction .*; [?]refid= finds one"),
        *("Journal", "transactions/{trxid}/callbacks`", "unknown"),
    ),
    (
        *("(get|replay)SandboxDelivery", 404),
        *("unknown_delivery: there is no such delivery, or it was evicted from the log",),
        *("Journal", "deliveries/{job}", "unknown, or evicted"),
    ),
    (
        *("deleteSandbox", 409, "default_stays: the default sandbox always exists; reset it instead"),
        *("Sandboxes", "409 `default_stays`", "the default sandbox stays"),
    ),
    (
        *("addMark", 409, "mark_exists: name: there is a mark '.*' already; delete it first, or choose another name"),
        *("Sandboxes", "/marks`", "the name is taken"),
    ),
    (
        *(
            "removeMark|rewindSandbox|createSandbox",
            404,
            "unknown_mark: (fork[.])?mark: there is no mark '.*'; `reseller-sim mark list` lists them",
        ),
        *("Sandboxes", "/marks/{mark}`", "unknown"),
    ),
    (
        *(
            "rewindSandbox|createSandbox",
            400,
            "unknown_moment: (fork[.])?(n: the tape has|to: the tape has no such time: it is) .*",
        ),
        *("Sandboxes", "/rewind`", "what happened until now decides"),
    ),
    (
        *("createSandbox", 404, "unknown_sandbox: fork[.]of: there is no sandbox '.*'; GET /_sim/sandboxes lists them"),
        *("Sandboxes", "`fork` copies", "there is nothing to fork"),
    ),
    (
        *("createSandbox", 409, "too_many_fork_bytes: fork: the tapes of this server hold .*"),
        *("Sandboxes", "409 `too_many_fork_bytes`", "the budget of tapes"),
    ),
    (
        *("getTape", 409, "cannot_mask: the tape cannot be redacted: .*"),
        *("Journal", "`cannot_mask`", "a secret is also something else"),
    ),
    (
        *("getTape", 409, "cannot_show: this sandbox received a token of the control API, .*"),
        *("Journal", "`cannot_show`", "a token came to the reseller API or to an inbox"),
    ),
    (
        *("addReseller", 409, "reseller_exists: code: there is a reseller '.*' already"),
        *("Resellers", "/resellers`", "the code is taken"),
    ),
    (
        *("stream(Sandbox)?Events", 400, "bad_request: after: after must be the id of an event, .*"),
        *("Journal", "Last-Event-ID", "a header that no stream gave"),
    ),
    ("addRule", 409, "rule_exists: name: there is a rule '.*' already", "Rules", "/rules`", "the name is taken"),
    (
        *(
            "createSandbox",
            400,
            "bad_request: (id|seed|credentials|audit|clock|start|sandbox|life|mark|to|n): there is no parameter .*",
        ),
        *("Sandboxes", "with query parameters", "beside YAML or a tape only"),
    ),
    ("createSandbox", 400, "bad_tape: .*", "Sandboxes", "400 `bad_tape`", "the bytes are no tape"),
    (
        *("createSandbox", 400, "unknown_moment: (tape: )?the tape has .*"),
        *("Sandboxes", "`unknown_moment`", "the tape decides"),
    ),
    (
        *("createSandbox", 400, "bad_request: (tape: )?give at most one of mark, to, n"),
        *("Sandboxes", "was at a moment", "there is one moment"),
    ),
    (
        *("createSandbox", 400, "bad_request: .*: must be left out: the tape defines it"),
        *("Sandboxes", "only `id` may stand next to it", "the tape says it"),
    ),
    (
        *("createSandbox", 409, "not_repeatable: .*"),
        *("Sandboxes", "409 `not_repeatable`", "the tape is of another version"),
    ),
    (
        *(
            "createSandbox",
            400,
            "bad_scenario: must be a scenario, an object with keys such as resellers, .*, not '.*'",
        ),
        *("Sandboxes", "a scenario file as the body", "the text is no scenario"),
    ),
    (
        *("createSandbox", 400, "bad_scenario: cannot be read as YAML: .*"),
        *("Sandboxes", "a scenario file as the body", "the text is no YAML"),
    ),
    (
        *("createSandbox", 400, "bad_scenario: this file is empty; write 'extends: default' .*"),
        *("Sandboxes", "a scenario file as the body", "an empty text"),
    ),
    (
        *("createSandbox", 400, "bad_scenario: this is not UTF-8 text; save the file as UTF-8"),
        *("Sandboxes", "a scenario file as the body", "the bytes are no text"),
    ),
    (
        *("createSandbox", 400, _PLACE + "without resellers no client can call; write 'extends: default' to .*"),
        *("Sandboxes", "a scenario as an object", "an object or a file that extends nothing and has no resellers"),
    ),
    (
        *(
            "createSandbox",
            400,
            "no_scenarios_folder: (scenario|tape)[.]file: start the server with --scenarios DIR to .*",
        ),
        *("Sandboxes", "400 `no_scenarios_folder`", "this server has no folder"),
    ),
    (
        *("createSandbox", 400, "bad_request: scenario: there is no bundled scenario '.*'; choose one of .*"),
        *("Sandboxes", "the name of a bundled scenario", "no such scenario"),
    ),
    (
        *(
            "createSandbox|addRule|setInboxReplies",
            400,
            r"bad_(scenario|request): ([^:]+: )?'.*' is longer than 3660 days",
        ),
        *("Rules", _WRITTEN, "the parts of a duration add up"),
    ),
    ("createSandbox|add(Rule|Reseller)|change.*", 400, _PLACE + _OF_ANY_VALUE, "Rules", _WRITTEN, "of any value"),
    (
        *("addRule", 400, _PLACE + "only a file with 'extends' removes rules; DELETE the rule of .*"),
        *("Rules", "`DELETE /_sim/sandboxes/{sandbox}/rules/{rule}`", "removed otherwise"),
    ),
    (
        *("addRule", 400, "bad_scenario: then: there is no timeline .* in this scenario.*"),
        *("Rules", "may name timelines", "the sandbox has none of this name"),
    ),
    (
        *("addRule", 400, r"bad_scenario: then(\.one_of\[\d+\]\.then)?: '(refuse|status)' is missing"),
        *("Rules", _WRITTEN, "the section decides"),
    ),
    (
        *("addRule", 400, r"bad_scenario: then(\.one_of\[\d+\]\.then)?\.body: a body needs a 'status' beside it"),
        *("Rules", _WRITTEN, "a body depends on a status"),
    ),
    (
        *("addRule", 400, "bad_scenario: then.refund_after: only a void with status Success ends later"),
        *("Rules", _WRITTEN, "one key depends on another"),
    ),
    (
        *(
            "addReseller",
            400,
            "bad_scenario: (low_balance_threshold|balance): a .* in whole sen, not .*",
        ),
        *("Resellers", "Amounts are in whole sen", "one sen is the smallest"),
    ),
    (
        *(
            "addReseller",
            400,
            r"bad_scenario: (balance|low_balance_threshold): [0-9.]+ has more than 15 digits .*",
        ),
        *("Resellers", "`low_balance_threshold`", "an amount has 15 digits"),
    ),
    (
        *(
            "addReseller",
            400,
            r"bad_scenario: api_keys\[[0-9]+\].secret: a secret of .* must be Base64 .*",
        ),
        *("Resellers", "`api_keys`", "no Base64"),
    ),
    (
        *(
            "addReseller",
            400,
            r"bad_scenario: api_keys\[[0-9]+\]: 'secret' is missing; only keys in the state .*",
        ),
        *("Resellers", "`api_keys`", "a state of keys decides"),
    ),
    (
        *(
            "addReseller",
            400,
            r"bad_scenario: settings.ip_allowlist\[[0-9]+\]: .* must be an IP address or network such as 10.0.0.0/8",
        ),
        *("Resellers", "`ip_allowlist`", "no address"),
    ),
    (
        *("changeCategory", 400, r"bad_scenario: product_codes\[[0-9]+\]: there is no product '.*' in the catalog.*"),
        *("Catalog", "`product_codes`", "not in the catalog"),
    ),
    (
        *("changeProduct", 400, "bad_scenario: [a-z_]+: '(name|note|discount|options)' is the same for all resellers"),
        *("Catalog", "`is_active` and `price_adjustment` of this reseller's overlay", "a query decides on a body"),
    ),
    (
        *("addDeposit", 400, "invalid_amount: amount: a balance has at most 15 digits"),
        *("Resellers", "/deposits`", "the sum counts"),
    ),
    (
        *(
            "setClock",
            400,
            "clock_goes_back: now: the clock cannot go back: it is .*; reset the sandbox to begin again",
        ),
        *("Clock", "Time never goes back", "what time it is decides"),
    ),
    (
        *("stopAdvance", 409, "not_advancing: this sandbox is not being advanced, so there is nothing to stop"),
        *("Clock", "409 `not_advancing`", "none runs"),
    ),
    (
        *("listDue", 400, "bad_request: cursor: cursor is after the first 2000, the length of this list; .*"),
        *("Clock", "At most the first 2,000", "the number of them decides"),
    ),
    (
        *("advanceClock|setClock", 400, "bad_request: (to|now): (to|now) must be between 1990 and 2200"),
        *("Clock", "between 1990 and 2200", "an offset moves the year"),
    ),
    (
        *("advanceClock|setClock", 400, "bad_request: (to|now): (to|now) must be an ISO 8601 time such as .*"),
        *("Clock", "`to`", "a day that the calendar does not have"),
    ),
    (
        *(
            "setInboxReplies",
            400,
            r"bad_request: (replies|during)\.[0-9]+\.delay: .*(at most 5 minutes|longer than .*)",
        ),
        *("Inbox", "at most five minutes", "the parts of a duration add up"),
    ),
    (
        "advanceClock",
        400,
        "bad_request: to: to is in the past: the sandbox's time is .*",
        "Clock",
        "`to`",
        "never back",
    ),
    (
        *("advanceClock", 400, "bad_request: seconds: seconds must end before 2200: the sandbox's time is .*"),
        *("Clock", "`seconds`", "what time it is decides"),
    ),
]
