"""Scenario files with mistakes, each with the place and the code of its problem."""

from decimal import Decimal

from simulator.scenario.reading.nodes import DEPTH_MAX
from simulator.scenario.reading.scenario_files import BYTES_MAX

NESTED = "a: " + "[" * (DEPTH_MAX + 1)
REFUSED: list[tuple[str, str | bytes, str]] = [
    ("duplicate key", "a: 1\nb: 2\na: 3\n", "3:1: duplicate_key"),
    ("duplicate key in flow", "{a: 1, a: 2}", "1:8: duplicate_key"),
    ("duplicate key, once quoted", "a: 1\n'a': 2\n", "2:1: duplicate_key"),
    ("anchor", "a: &x 1\n", "1:4: anchor"),
    ("alias", "a: *x\n", "1:4: alias"),
    ("merge key", "b: &x {}\n<<: *x\n", "1:4: anchor"),
    ("tag", "a: !!int 3\n", "1:4: tag"),
    ("python tag", "a: !!python/object/apply:os.system [ls]\n", "1:4: tag"),
    ("tag on text", 'a: ! "x"\n', "1:4: tag"),
    ("second document", "a: 1\n---\nb: 2\n", "2:1: documents"),
    ("number as key", "a: 1\n7: 2\n", "2:1: key_not_text"),
    ("true as key", "true: 1\n", "1:1: key_not_text"),
    ("null as key", "null: 1\n", "1:1: key_not_text"),
    ("list as key", "? [a]\n: 1\n", "1:3: key_not_text"),
    ("too deep", NESTED, f"1:{3 + DEPTH_MAX}: too_deep"),
    ("number of many digits", "a: " + "9" * 41, "1:4: bad_number"),
    ("NUL by escape", 'a: "\\0"', "1:4: bad_text"),
    ("NUL", "a: 1\nb: \0\n", "2:4: syntax"),
    ("surrogate by escape", 'a: "\\ud800"', "1:7: syntax"),
    ("surrogate", "a: \ud800", "1:1: encoding"),
    ("broken flow", "a: [1, 2\nb: 3\n", "1:4: syntax"),
    ("tab for indentation", "a:\n\tb: 1\n", "2:1: syntax"),
    ("Latin-1", "seed: 1\nä: 2".encode("latin-1"), "2:1: encoding"),
    ("UTF-16", "a: 1".encode("utf-16"), "1:1: encoding"),
    ("UTF-16 without its mark", "a: 1".encode("utf-16-le"), "1:2: syntax"),
]
# See also `test_work`, which counts.
HOSTILE: list[tuple[str, str | bytes, str]] = [
    ("ten megabytes", "a: " + "x" * 10_000_000, "too_big"),
    ("ten megabytes of lists", b"[" * 10_000_000, "too_big"),
    ("a megabyte of lists", "[" * (BYTES_MAX - 1), "too_deep"),
    ("a megabyte of objects", "{a: " * (BYTES_MAX // 4 - 1), "too_deep"),
    ("a megabyte of dashes", "- " * (BYTES_MAX // 2 - 1), "too_deep"),
    ("a megabyte of question marks", "? " * (BYTES_MAX // 2 - 1), "too_deep"),
    ("half a million values", "[" + "a," * (BYTES_MAX // 2 - 4) + "]", "too_big"),
    ("a billion laughs", "a: &a [x]\n" + "".join(f"k{i}: &k{i} [*a,*a]\n" for i in range(1000)), "anchor"),
    ("a hundred thousand documents", "--- a\n" * 100_000, "documents"),
]


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


BAD_OBJECTS: list[tuple[str, object, str]] = [
    ("deep", {"a": deep(200)}, "too_deep"),
    ("wide", [0] * 60_000, "too_big"),
    ("number as key", {1: 2}, "key_not_text"),
    ("control character in a key", {"a\nb\x00": 2}, "key_not_text"),
    ("lone surrogate", {"a": "\ud800"}, "bad_text"),
    ("not a number", {"a": float("nan")}, "bad_number"),
    ("infinite", {"a": float("inf")}, "bad_number"),
    ("vast", {"a": Decimal("1e400")}, "bad_number"),
    ("vast integer", {"a": 10**5000}, "bad_number"),
    ("bytes", {"a": object()}, "type"),
]

PRODUCT = """\
catalog:
  products:
    - code: A
      name: A
      processing_time: instant
      discount: { type: percentage, value: 1 }
"""
STEPS = "payments:\n  - then:\n"
ACCEPTED = "    - { status: Accepted }\n"
LATER = "payments:\n- then: [{ status: Accepted }, { after: 1s, status: Failed }]\n  callbacks: "
# name, text, every problem that is expected
MISTAKES: list[tuple[str, str, list[str]]] = [
    ("a key that does not exist", "sed: 3\n", ["1:1: unknown_key"]),
    (
        "a key that does not exist, deep",
        "payments:\n- when: {acount: 1}\n  then: [{status: Failed}]\n",
        ["2:10: unknown_key"],
    ),
    ("wrong type", "seed: one\n", ["1:7: type"]),
    ("a number as text", "scenario: 12\n", ["1:11: type"]),
    ("a negative seed", "seed: -1\n", ["1:7: out_of_range"]),
    (
        "more rules than the limit",
        "limits: {rules: 2}\nvoids: [{then: {status: Failed}}]\nfaults:\n"
        "- {then: {status: 500}}\n- {then: {status: 501}}\n",
        ["5:3: too_many"],
    ),
    (
        "more resellers and keys than the limits",
        "limits: {resellers: 1, api_keys: 1}\nresellers:\n- {code: A, api_keys: [{key: a, state: no_secret}]}\n"
        "- {code: B, api_keys: [{key: b, state: no_secret}]}\n",
        ["4:3: too_many", "4:24: too_many"],
    ),
    ("a list where an object is due", "limits: [1]\n", ["1:9: type"]),
    ("an object where a list is due", "payments: {}\n", ["1:11: type"]),
    ("null where text is due", "description:\n", ["1:13: type"]),
    ("a misspelled status", STEPS + "    - { status: Successful }\n", ["3:17: unknown_value"]),
    ("an empty timeline", "payments: [{then: []}]\n", ["1:19: out_of_range"]),
    ("no timeline", "payments: [{when: {}}]\n", ["1:12: missing_key"]),
    ("a timed first step", STEPS + "    - { after: 1s, status: Accepted }\n", ["3:9: timeline"]),
    (
        "a second step without a time",
        STEPS + ACCEPTED + "    - { status: Failed }\n",
        ["4:7: timeline"],
    ),
    (
        "a step with two times",
        STEPS + ACCEPTED + "    - { status: Failed, after: 1s, requery: 1 }\n",
        ["4:36: timeline"],
    ),
    (
        "a step after a final one",
        STEPS + "    - { status: Failed }\n    - { status: Succesful, after: 1s }\n",
        ["4:17: timeline"],
    ),
    (
        "a way back",
        STEPS + "    - { status: Processing }\n    - { after: 1s, status: Accepted }\n",
        ["4:28: timeline"],
    ),
    (
        "time that goes back",
        STEPS + ACCEPTED + "    - { after: 5s, status: Processing }\n    - { after: 2s, status: Failed }\n",
        ["5:16: timeline"],
    ),
    (
        "re-queries that go back",
        STEPS + ACCEPTED + "    - { requery: 5, status: Processing }\n    - { requery: 2, status: Failed }\n",
        ["5:18: timeline"],
    ),
    ("a first step at a time of day", STEPS + '    - { at: "12:10", status: Accepted }\n', ["3:9: timeline"]),
    (
        "a step after a time and at a time of day",
        STEPS + ACCEPTED + '    - { status: Failed, after: 1s, at: "12:10" }\n',
        ["4:36: timeline"],
    ),
    (
        "a time of day that there is not",
        STEPS + ACCEPTED + '    - { at: "24:10", status: Failed }\n',
        ["4:13: bad_clock_time"],
    ),
    (
        "a time of day with a zone",
        STEPS + ACCEPTED + '    - { at: "12:10Z", status: Failed }\n',
        ["4:13: bad_clock_time"],
    ),
    (
        "a step below a time of day that is always before it",
        STEPS + ACCEPTED + '    - { at: "12:10", status: Processing }\n    - { after: 0s, status: Failed }\n',
        ["5:16: timeline"],
    ),
    (
        "a step at a time of day after a final one",
        STEPS + ACCEPTED + '    - { after: 5s, status: Failed }\n    - { at: "12:10", status: Succesful }\n',
        ["5:30: timeline"],
    ),
    (
        "a timeline of its own that goes back",
        "timelines:\n  slow: [{ status: Processing }, { after: 1s, status: Accepted }]\n",
        ["2:55: timeline"],
    ),
    ("an empty named timeline", "timelines: { slow: [] }\n", ["1:20: out_of_range"]),
    (
        "a timeline without a name",
        "timelines: { slow: [{ status: Failed }] }\nmagic: { then: '' }\npayments: [{ then: '' }]\n",
        ["2:16: out_of_range", "3:20: out_of_range"],
    ),
    (
        "a timeline that there is not",
        "timelines: { slow: [{ status: Failed }] }\npayments: [{ then: slwo }]\n",
        ["2:20: unknown_timeline"],
    ),
    (
        "a timeline that there is not, of a magic account and within one_of",
        "magic:\n  then: slow\n  outcomes: { '18': { outcome: x, payments: { then: { one_of: [{ then: a }, "
        "{ then: [{ status: Failed }] }] } } } }\n",
        ["2:9: unknown_timeline", "3:72: unknown_timeline"],
    ),
    (
        "callbacks of a status twice",
        LATER + "[{ status: Failed, drop: true }, { status: Failed, delay: 1s }]\n",
        ["3:57: duplicate"],
    ),
    (
        "callbacks of a status that is never reported",
        LATER + "[{ status: Processing, drop: true }]\n",
        ["3:25: unreachable"],
    ),
    ("callbacks of a refund without a success", LATER + "[{ status: Refund, drop: true }]\n", ["3:25: unreachable"]),
    ("callbacks of an uncalled status", LATER + "[{ status: Accepted, drop: true }]\n", ["3:25: unknown_value"]),
    (
        "callbacks of a status after the callbacks of all others",
        LATER + "[{ drop: true }, { status: Failed, delay: 1s }]\n",
        ["3:31: misplaced"],
    ),
    ("reversed callbacks of a single status", LATER + "[{ status: Failed, reverse: true }]\n", ["3:33: unknown_key"]),
    (
        "callbacks of a refusal among others",
        "payments:\n- then: { one_of: [{ then: { refuse: Invalid_Account }, callbacks: { drop: true } }, "
        "{ then: [{ status: Failed }] }] }\n",
        ["2:57: misplaced"],
    ),
    ("one of one", "payments: [{ then: { one_of: [{ then: [{ status: Failed }] }] } }]\n", ["1:30: out_of_range"]),
    (
        "a weight of nothing",
        "voids: [{ then: { one_of: [{ weight: 0, then: { status: Failed } }, { then: { status: Success } }] } }]\n",
        ["1:38: out_of_range"],
    ),
    (
        "an entry of one_of without a then",
        "bills: [{ then: { one_of: [{ weight: 1 }, { then: { error: unavailable } }] } }]\n",
        ["1:28: missing_key"],
    ),
    (
        "one_of beside a status",
        "faults: [{ then: { status: 500, one_of: [{ then: { status: 501 } }, { then: { status: 502 } }] } }]\n",
        ["1:20: misplaced"],
    ),
    (
        "one_of within one_of",
        "disputes:\n- then:\n    one_of:\n    - then: { status: Failed }\n"
        "    - then: { one_of: [{ then: { status: Failed } }, { then: { status: Success } }] }\n",
        ["5:13: nested"],
    ),
    ("a refusal without a reason", "payments: [{ then: { statusCode: 4 } }]\n", ["1:20: missing_key"]),
    (
        "a void within one_of without a status",
        "voids: [{ then: { one_of: [{ then: { message: x } }, { then: { status: Failed } }] } }]\n",
        ["1:36: missing_key"],
    ),
    ("a duration without a unit", STEPS + ACCEPTED + "    - { after: 5, status: Failed }\n", ["4:16: type"]),
    ("an unknown unit", "clock: { skew: 3w }\n", ["1:16: bad_duration"]),
    ("a request rate of nothing", "limits: { requests_per_interval: 0 }\n", ["1:34: out_of_range"]),
    ("a request rate in words", "limits: { requests_per_interval: many }\n", ["1:34: type"]),
    ("an interval without a unit", "limits: { rate_limit_interval: 5 }\n", ["1:32: type"]),
    ("a token that is never good", "limits: { token_lifetime: 999ms }\n", ["1:27: bad_duration"]),
    ("a token for ever", "limits: { refresh_token_lifetime: 9999d }\n", ["1:35: bad_duration"]),
    ("a duration of a century", "limits: { nonce_window: 36500d }\n", ["1:25: bad_duration"]),
    ("an unknown placeholder", STEPS + '    - { status: Failed, remarks: "{refd}" }\n', ["3:34: bad_template"]),
    ("a single brace", STEPS + '    - { status: Failed, remarks: "a { b" }\n', ["3:34: bad_template"]),
    ("too many digits drawn", STEPS + '    - { status: Failed, sn: "{digits:100}" }\n', ["3:29: bad_template"]),
    ("a day that does not exist", STEPS + "    - { status: Failed, expiry: 2027-02-30 }\n", ["3:33: bad_date"]),
    (
        "an invalid pattern",
        'payments: [{when: {account: {pattern: "("}}, then: [{status: Failed}]}]\n',
        ["1:39: bad_pattern"],
    ),
    (
        "a pattern with look-ahead",
        'payments: [{when: {account: {not: {pattern: "(?=a)"}}}, then: [{status: Failed}]}]\n',
        ["1:45: bad_pattern"],
    ),
    (
        "a pattern in extras with a back-reference",
        "payments: [{when: {extras: {a: {pattern: '(a)\\1'}}}, then: [{status: Failed}]}]\n",
        ["1:42: bad_pattern"],
    ),
    ("an empty matcher", "payments: [{when: {account: {}}, then: [{status: Failed}]}]\n", ["1:29: out_of_range"]),
    ("an invalid amount", "payments: [{when: {amount: ten}, then: [{status: Failed}]}]\n", ["1:28: bad_amount"]),
    (
        "a product that does not exist",
        "extends: default\npayments: [{when: {product: RELOD}, then: [{status: Failed}]}]\n",
        ["2:29: unknown_product"],
    ),
    (
        "one of several products",
        "extends: default\npayments: [{when: {product: {in: [RELOAD, X]}}, then: [{status: Failed}]}]\n",
        ["2:43: unknown_product"],
    ),
    (
        "a reseller that does not exist",
        "extends: default\nfaults: [{when: {reseller: RS01}, then: {status: 500}}]\n",
        ["2:28: unknown_reseller"],
    ),
    (
        "a deposit for nobody",
        "schedule: [{at: 1s, deposit: {reseller: RS1, amount: 5}}]\n",
        ["1:41: unknown_reseller"],
    ),
    (
        "an overlay of nothing",
        "extends: default\nresellers: [{code: RS001, catalog: {GAMES: {is_active: false}}}]\n",
        ["2:37: unknown_product"],
    ),
    *(
        (name, PRODUCT + f"      fields: [{{id: f, label: f, {field}}}]\n", [f"7:{place}"])
        for name, field, place in (
            ("many options of a text field", "generate: {count: 3}", "34: misplaced"),
            ("options of a number field", "type: number, options_for: {a: []}", "48: misplaced"),
            ("nothing to choose from", "type: select", "16: missing_key"),
            ("a share of what everybody gets", "type: select, options: [{code: a, share: 0.5}]", "68: misplaced"),
            ("a list for an account in a static field", "type: select, options: [], options_for: {}", "61: misplaced"),
            ("a generated denomination", "role: pricing, type: select, generate: {count: 3}", "63: misplaced"),
            (
                "a generated code that is written",
                "type: select, options: [{code: '7'}], generate: {count: 3, first: 6}",
                "82: duplicate",
            ),
            ("a billion generated", "type: select, generate: {count: 1000000000}", "66: out_of_range"),
            (
                "limits the wrong way round",
                "type: select, generate: {count: 1, min_amount: 2, max_amount: 1}",
                "96: out_of_range",
            ),
            (
                "a biller's limits the wrong way round",
                "type: select, options: [{code: a, min_amount: 2, max_amount: 1}]",
                "95: out_of_range",
            ),
            (
                "a share above all",
                "type: select, data_source: {type: dynamic}, options: [{code: a, share: 1.5}]",
                "105: out_of_range",
            ),
            (
                "an account number both written and drawn",
                "type: select, data_source: {type: dynamic}, options: [{code: a,account_number: a, account_digits: 5}]",
                "116: misplaced",
            ),
        )
    ),
    (
        "a category of nothing",
        PRODUCT + "  groups:\n  - {id: g, name: g, categories: [{id: c, name: c, product_codes: [B]}]}\n",
        ["8:68: unknown_product"],
    ),
    *(
        (f"scheduled: {name}", f"extends: default\nschedule: [{{at: 1h, {item}}}]\n", [f"2:{place}"])
        for name, item, place in (
            ("nothing at all", "", "12: missing_key"),
            ("a key of nobody", "api_key: {reseller: RS1, key: a, state: revoked}", "41: unknown_reseller"),
            ("an unknown key", "api_key: {reseller: RS001, key: a, state: revoked}", "53: unknown_api_key"),
            ("a key without change", "api_key: {reseller: RS001, key: test_key_RS001}", "30: missing_key"),
            ("a key with an invalid secret", "api_key: {reseller: RS001, key: a, secret: '!'}", "64: bad_secret"),
            ("a key in no state", "api_key: {reseller: RS001, key: test_key_RS001, state: gone}", "76: unknown_value"),
            ("settings of nobody", "settings: {reseller: RS1, ip_allowlist: []}", "42: unknown_reseller"),
            ("settings without change", "settings: {reseller: RS001}", "31: missing_key"),
            ("settings with a bad address", "settings: {reseller: RS001, ip_allowlist: [here]}", "64: bad_address"),
            (
                "settings with half a threshold",
                "settings: {reseller: RS001, low_balance_threshold: 0.5}",
                "72: bad_amount",
            ),
            ("settings with a bad target", "settings: {reseller: RS001, callback: {url: here}}", "65: bad_url"),
            ("settings with a balance", "settings: {reseller: RS001, ip_allowlist: [], balance: 5}", "67: unknown_key"),
            ("a network of nothing", "network: {product: NOPE, status: Healthy}", "40: unknown_product"),
            ("a network that is down", "network: {product: GAME, status: Down}", "54: unknown_value"),
            ("a rule for nothing", "rule: {}", "27: out_of_range"),
            (
                "a rule added and removed",
                "rule: {remove: ordinary, add: {faults: {then: {status: 500}}}}",
                "27: missing_key",
            ),
            ("a rule of no section", "rule: {add: {fault: {then: {status: 500}}}}", "34: unknown_key"),
            (
                "rules of two sections",
                "rule: {add: {voids: {then: {status: Failed}}, faults: {then: {status: 500}}}}",
                "33: out_of_range",
            ),
            ("a rule of the wrong section", "rule: {add: {faults: {then: [{status: Failed}]}}}", "49: type"),
            (
                "a rule of nothing",
                "rule: {add: {payments: {when: {product: X}, then: [{status: Failed}]}}}",
                "61: unknown_product",
            ),
            ("a rule with a header of ours", "rule: {add: {faults: {then: {headers: {Date: a}}}}}", "60: bad_header"),
            (
                "a rule whose name is taken",
                "rule: {add: {faults: {name: ordinary, then: {status: 500}}}}",
                "49: duplicate",
            ),
            (
                "a rule whose name is magic",
                "rule: {add: {faults: {name: magic-13, then: {status: 500}}}}",
                "49: duplicate",
            ),
            ("a rule that is not there to remove", "rule: {remove: ordnary}", "36: unknown_rule"),
            ("a magic rule to remove", "rule: {remove: magic-13}", "36: unknown_rule"),
            ("a webhook of nobody", "webhook: {reseller: RS1, enabled: false}", "41: unknown_reseller"),
            ("a webhook without change", "webhook: {reseller: RS001}", "30: missing_key"),
            ("a webhook to nowhere", "webhook: {reseller: RS001, url: here}", "53: bad_url"),
            ("a webhook with a short secret", "webhook: {reseller: RS001, secret: abc}", "56: bad_secret"),
            (
                "a product and its category",
                "product: {code: GAME, set: {name: x}}, category: {id: mobile, set: {name: x}}",
                "12: missing_key",
            ),
            ("a category of no catalog", "category: {id: nothing, set: {name: x}}", "36: unknown_category"),
            ("a group of no catalog", "group: {id: nothing, set: {name: x}}", "33: unknown_group"),
            ("a group that stays", "group: {id: leisure, set: {}}", "47: out_of_range"),
            ("a category's icon", "category: {id: games, set: {icon_url: x}}", "49: unknown_key"),
            ("a category of nothing", "category: {id: games, set: {product_codes: [NOTHING]}}", "65: unknown_product"),
            (
                "a category that shows one twice",
                "category: {id: games, set: {product_codes: [GAME, GAME]}}",
                "71: duplicate",
            ),
            (
                "two things at once",
                "deposit: {reseller: RS001, amount: 1}, product: {code: GAME, set: {name: x}}",
                "12: missing_key",
            ),
            ("no such product", "product: {code: GAMES, set: {name: x}}", "37: unknown_product"),
            ("no such reseller", "product: {code: GAME, reseller: R, set: {is_active: true}}", "53: unknown_reseller"),
            ("no change", "product: {code: GAME, set: {}}", "48: out_of_range"),
            ("no such property", "product: {code: GAME, set: {names: x}}", "49: unknown_key"),
            ("no such option", "product: {code: GAME, set: {options: {G: {is_active: true}}}}", "59: unknown_option"),
            ("an option without a word", "product: {code: GAME, set: {options: {GAME-100: {}}}}", "69: missing_key"),
            ("neither on nor off", "product: {code: GAME, set: {is_active: null}}", "60: type"),
            ("a name for a single reseller", "product: {code: GAME, reseller: RS001, set: {name: x}}", "66: misplaced"),
            (
                "a discount beyond all",
                "product: {code: GAME, set: {discount: {type: percentage, value: 101}}}",
                "85: out_of_range",
            ),
        )
    ),
    (
        "half a deposit",
        "extends: default\nschedule: [{at: 1s, deposit: {reseller: RS001, amount: 0.001}}]\n",
        ["2:56: bad_amount"],
    ),
    ("a balance below zero", "resellers: [{code: A, balance: -1}]\n", ["1:32: out_of_range"]),
    ("a balance that is no number", "resellers: [{code: A, balance: much}]\n", ["1:32: bad_amount"]),
    ("a balance with a third decimal", "resellers: [{code: A, balance: 1.005}]\n", ["1:32: bad_amount"]),
    (
        "a secret that is not Base64",
        "resellers: [{code: A, api_keys: [{key: k, secret: abc-}]}]\n",
        ["1:51: bad_secret"],
    ),
    (
        "a secret of the wrong length",
        "resellers: [{code: A, api_keys: [{key: k, secret: abcde}]}]\n",
        ["1:51: bad_secret"],
    ),
    ("a key without its secret", "resellers: [{code: A, api_keys: [{key: k}]}]\n", ["1:34: missing_key"]),
    ("two resellers with the same code", "resellers: [{code: A}, {code: A}]\n", ["1:31: duplicate"]),
    (
        "one key for two resellers",
        "resellers:\n"
        "- { code: A, api_keys: [{ key: k, state: no_secret }] }\n"
        "- { code: B, api_keys: [{ key: k, state: no_secret }] }\n",
        ["3:32: duplicate"],
    ),
    ("a callback to nowhere", "resellers: [{code: A, callback: {url: nowhere}}]\n", ["1:39: bad_url"]),
    ("a callback without a host", "resellers: [{code: A, callback: {url: 'http://:80/'}}]\n", ["1:39: bad_url"]),
    ("a callback to port 99999", "resellers: [{code: A, callback: {url: 'http://a:99999/'}}]\n", ["1:39: bad_url"]),
    ("an inbox without a name", 'resellers: [{code: A, callback: {url: "inbox:"}}]\n', ["1:39: bad_url"]),
    ("an invalid address", "resellers: [{code: A, settings: {ip_allowlist: [10.0.0]}}]\n", ["1:49: bad_address"]),
    (
        "two rules with the same name",
        "payments:\n- {name: a, then: [{status: Failed}]}\n- {name: a, then: [{status: Failed}]}\n",
        ["3:10: duplicate"],
    ),
    (
        "a rule and a fault with the same name",
        "payments: [{name: a, then: [{status: Failed}]}]\nfaults: [{name: a, then: {status: 500}}]\n",
        ["2:17: duplicate"],
    ),
    (
        "a name that another rule has by its place",
        "payments:\n- {then: [{status: Failed}]}\n- {name: payments-1, then: [{status: Failed}]}\n",
        ["3:10: duplicate"],
    ),
    (
        "a count in two places",
        "payments: [{when: {nth: 1}, nth: 2, then: [{status: Failed}]}]\n",
        ["1:20: duplicate"],
    ),
    ("a chance above one", "faults: [{when: {chance: 1.5}, then: {status: 500}}]\n", ["1:26: out_of_range"]),
    ("a fault that does nothing", "faults: [{then: {}}]\n", ["1:17: out_of_range"]),
    ("an invalid HTTP status", "faults: [{then: {status: 99}}]\n", ["1:26: out_of_range"]),
    ("a body without a status", "faults: [{then: {body: x}}]\n", ["1:18: misplaced"]),
    ("a commit whose answer is left alone", "faults: [{then: {after_commit: true}}]\n", ["1:18: misplaced"]),
    (
        "a header that is no name",
        "faults: [{then: {status: 500, headers: {Retry After: '5'}}}]\n",
        ["1:41: bad_header"],
    ),
    ("a header of the framing", "faults: [{then: {headers: {Content-LENGTH: '5'}}}]\n", ["1:28: bad_header"]),
    ("a header of the simulator", "faults: [{then: {headers: {x-sim-rule: a}}}]\n", ["1:28: bad_header"]),
    ("a header twice", "faults: [{then: {headers: {Age: '1', age: '2'}}}]\n", ["1:38: duplicate"]),
    ("a header's value on two lines", 'faults: [{then: {headers: {Age: "1\\n2"}}}]\n', ["1:33: bad_header"]),
    ("a header that is a number", "faults: [{then: {headers: {Age: 1}}}]\n", ["1:33: type"]),
    ("no headers", "faults: [{then: {headers: {}}}]\n", ["1:27: out_of_range"]),
    (
        "too many headers",
        "faults: [{then: {headers: {" + ", ".join(f"X-{n}: a" for n in range(51)) + "}}}]\n",
        ["1:27: out_of_range"],
    ),
    ("headers that are not sent", "faults: [{then: {disconnect: true, headers: {Age: '1'}}}]\n", ["1:36: misplaced"]),
    ("a delay from long to short", "faults: [{then: {delay: [2s, 1s]}}]\n", ["1:25: out_of_range"]),
    ("a delay of three", "faults: [{then: {delay: [1s, 2s, 3s]}}]\n", ["1:25: out_of_range"]),
    ("disconnect: false", "faults: [{then: {disconnect: false}}]\n", ["1:30: unknown_value"]),
    ("malformed: false", "faults: [{then: {malformed: false}}]\n", ["1:29: unknown_value"]),
    ("a drip without a pace", "faults: [{then: {drip: {}}}]\n", ["1:24: missing_key"]),
    ("a drip that stands still", "faults: [{then: {drip: {bytes_per_second: 0}}}]\n", ["1:43: out_of_range"]),
    ("a drip in words", "faults: [{then: {drip: {bytes_per_second: slow}}}]\n", ["1:43: type"]),
    (
        "a drip per minute",
        "faults: [{then: {drip: {bytes_per_minute: 9}}}]\n",
        ["1:24: missing_key", "1:25: unknown_key"],
    ),
    ("a drip that is a number", "faults: [{then: {drip: 20}}]\n", ["1:24: type"]),
    ("spoiled and not sent", "faults: [{then: {disconnect: true, malformed: true}}]\n", ["1:36: misplaced"]),
    (
        "slowly and not at all",
        "faults: [{then: {drip: {bytes_per_second: 1}, disconnect: body}}]\n",
        ["1:18: misplaced"],
    ),
    ("a nonce service that is up", "faults: [{then: {nonce_service: up}}]\n", ["1:33: unknown_value"]),
    ("a fallback fault", "faults: [{fallback: true, then: {status: 500}}]\n", ["1:11: unknown_key"]),
    ("a status in words", "faults: [{then: {status: Failed}}]\n", ["1:26: type"]),
    ("a rule that is text", "payments: [always]\n", ["1:12: type"]),
    ("a times of nothing", "payments: [{times: 0, then: [{status: Failed}]}]\n", ["1:20: out_of_range"]),
    ("an nth that is half", "payments: [{nth: 1.5, then: [{status: Failed}]}]\n", ["1:18: type"]),
    ("no time of day", "faults: [{when: {time: {from: '24:00'}}, then: {status: 500}}]\n", ["1:31: bad_clock_time"]),
    ("a time of day as a list", "faults: [{when: {time: ['12:00']}, then: {status: 500}}]\n", ["1:24: type"]),
    ("a time of day of nothing", "faults: [{when: {time: {}}, then: {status: 500}}]\n", ["1:24: out_of_range"]),
    (
        "no day of the week",
        "faults: [{when: {weekday: [Sun, Sunday]}, then: {status: 500}}]\n",
        ["1:33: unknown_value"],
    ),
    (
        "no day of the week alone",
        "voids: [{when: {weekday: sunday}, then: {status: Failed}}]\n",
        ["1:26: bad_weekdays"],
    ),
    ("a span of a century", "bills: [{when: {since: 36500d}, then: {error: a}}]\n", ["1:24: bad_duration"]),
    ("a span of a century beside when", "bills: [{until: 36500d, then: {error: a}}]\n", ["1:17: bad_duration"]),
    ("a span written twice", "faults: [{since: 1m, when: {since: 2m}, then: {status: 500}}]\n", ["1:29: duplicate"]),
    ("a count within any", "faults: [{when: {any: [{nth: 2}]}, then: {status: 500}}]\n", ["1:25: misplaced"]),
    ("any within any", "faults: [{when: {any: [{any: [{path: a}]}]}, then: {status: 500}}]\n", ["1:25: misplaced"]),
    ("any of nothing", "faults: [{when: {any: []}, then: {status: 500}}]\n", ["1:23: out_of_range"]),
    (
        "an invalid pattern within any",
        'voids: [{when: {any: [{account: {pattern: "("}}]}, then: {status: Failed}}]\n',
        ["1:43: bad_pattern"],
    ),
    (
        "a product within any that there is not",
        "extends: default\nvoids: [{when: {any: [{product: X}]}, then: {status: Failed}}]\n",
        ["2:33: unknown_product"],
    ),
    (
        "a query of payments",
        "payments: [{when: {query: {page: '2'}}, then: [{status: Failed}]}]\n",
        ["1:20: unknown_key"],
    ),
    (
        "per the trxid of payments",
        "payments: [{nth: 2, per: trxid, then: [{status: Failed}]}]\n",
        ["1:26: unknown_value"],
    ),
    ("per the refid of bills", "bills: [{nth: 2, when: {per: refid}, then: {error: a}}]\n", ["1:30: unknown_value"]),
    (
        "per written twice",
        "voids: [{nth: 2, per: account, when: {per: account}, then: {status: Failed}}]\n",
        ["1:39: duplicate"],
    ),
    (
        "more than a word",
        "payments: [{when: {amount: {more_than: much}}, then: [{status: Failed}]}]\n",
        ["1:40: bad_more_than"],
    ),
    (
        "more than outstanding of a void",
        "voids: [{when: {amount: {more_than: outstanding}}, then: {status: Failed}}]\n",
        ["1:37: misplaced"],
    ),
    (
        "more than outstanding of an account",
        "bills: [{when: {account: {more_than: outstanding}}, then: {error: a}}]\n",
        ["1:38: misplaced"],
    ),
    (
        "not more than outstanding",
        "bills: [{when: {amount: {not: {more_than: outstanding}}}, then: {error: a}}]\n",
        ["1:43: misplaced"],
    ),
    ("a matcher of nothing", "payments: [{when: {account: null}, then: [{status: Failed}]}]\n", ["1:29: type"]),
    (
        "a matcher with a glob key",
        "payments: [{when: {account: {glob: a}}, then: [{status: Failed}]}]\n",
        ["1:30: unknown_key"],
    ),
    ("min of a word", "payments: [{when: {amount: {min: ten}}, then: [{status: Failed}]}]\n", ["1:34: bad_amount"]),
    (
        "an empty list of values",
        "payments: [{when: {account: []}, then: [{status: Failed}]}]\n",
        ["1:29: out_of_range"],
    ),
    ("a refusal that there is not", "payments: [{then: {refuse: Nothing}}]\n", ["1:28: unknown_value"]),
    (
        "a refusal with callbacks",
        "payments: [{then: {refuse: Invalid_Account}, callbacks: {drop: true}}]\n",
        ["1:46: misplaced"],
    ),
    ("a duplicate in words", "payments: [{then: [{status: Failed}], callbacks: {duplicate: many}}]\n", ["1:62: type"]),
    ("the same key twice", "seed: 1\nseed: 2\n", ["2:1: duplicate_key"]),
    ("a tag", "seed: !!int 3\n", ["1:7: tag"]),
    ("an alias", "seed: &a 3\ndescription: *a\n", ["1:7: anchor", "2:14: alias"]),
    ("a key that is a number", "assume:\n  7: x\n", ["2:3: key_not_text"]),
    (
        "a scheduled time that is no duration",
        "schedule: [{at: soon, deposit: {reseller: A, amount: 1}}, {at: '24:00', deposit: {reseller: A, amount: 1}}]\n",
        ["1:17: bad_duration", "1:43: unknown_reseller", "1:64: bad_duration", "1:93: unknown_reseller"],
    ),
    ("a misspelt limit", "limits: { nonce: 5 }\n", ["1:11: unknown_key"]),
    ("a tolerance in words", "limits: { timestamp_tolerance: any }\n", ["1:32: bad_duration"]),
    ("an invalid status code", "assume: {payment-status-codes: {Accepted: one}}\n", ["1:43: type"]),
    (
        "a username twice",
        "resellers: [{code: A, users: [{username: u, password: p}, {username: u, password: q}]}]\n",
        ["1:70: duplicate"],
    ),
    ("a code with a blank", "resellers: [{code: A B}]\n", ["1:20: bad_code"]),
    (
        "a state that there is not",
        "resellers: [{code: A, api_keys: [{key: k, state: lost}]}]\n",
        ["1:34: missing_key", "1:50: unknown_value"],
    ),
    ("a catalog that is a number", "catalog: 7\n", ["1:10: type"]),
    ("a clock that is out of its mind", "clock: x1000000\n", ["1:8: bad_clock"]),
    ("a rate twice", "clock: {mode: x60, rate: 2}\n", ["1:20: duplicate"]),
    ("magic digits", "magic: { outcomes: { '1': { outcome: x } } }\n", ["1:22: bad_digits"]),
    ("an invalid clock", "clock: manul\n", ["1:8: bad_clock"]),
    ("an invalid clock mode", "clock: {mode: fast}\n", ["1:15: bad_clock"]),
    ("xN without N", "clock: {mode: xN}\n", ["1:15: missing_key"]),
    ("a rate for a manual clock", "clock: {mode: manual, rate: 2}\n", ["1:23: misplaced"]),
    ("a start without its offset", "clock: {start: 2027-01-10T23:59:00}\n", ["1:16: bad_time"]),
    ("a start on February 30", 'clock: {start: "2027-02-30T00:00:00Z"}\n', ["1:16: bad_time"]),
    ("an unknown assumption", "assume: {refid-reused: reject}\n", ["1:10: unknown_key"]),
    ("an unknown choice", "assume: {nonce-scope: account}\n", ["1:23: unknown_value"]),
    ("an invalid address to assume", "assume: {source-address: here}\n", ["1:26: bad_address"]),
    (
        "two products with the same code",
        PRODUCT + "    - { code: A, name: B, processing_time: instant, discount: { type: fixed, value: 1 } }\n",
        ["7:15: duplicate"],
    ),
    ("a discount above all", PRODUCT.replace("value: 1 ", "value: 101 "), ["6:44: out_of_range"]),
    (
        "a select field without options",
        PRODUCT + "      fields: [{id: a, label: a, type: select}]\n",
        ["7:16: missing_key"],
    ),
    ("options of a text field", PRODUCT + "      fields: [{id: a, label: a, options: [1]}]\n", ["7:34: misplaced"]),
    (
        "two account fields",
        PRODUCT + "      fields: [{id: a, label: a, role: account}, {id: b, label: b, role: account}]\n",
        ["7:74: duplicate"],
    ),
    (
        "a payment from a field that there is not",
        PRODUCT + "      fulfillment: {account: phone}\n",
        ["7:30: unknown_field"],
    ),
    (
        "validation with an invalid pattern",
        PRODUCT + "      fields: [{id: a, label: a, validation: {pattern: '[a'}}]\n",
        ["7:56: bad_pattern"],
    ),
    ("an extended scenario that there is not", "extends: defalt\n", ["1:10: unknown_scenario"]),
    ("a list of bases with one that there is not", "extends: [default, defalt]\n", ["1:20: unknown_scenario"]),
    ("a base twice", "extends: [default, default]\n", ["1:20: duplicate"]),
    ("a base that is no text", "extends: [default, 5]\n", ["1:20: type"]),
    ("an empty list of bases", "extends: []\n", ["1:10: out_of_range"]),
    ("an empty name of a base", "extends: [default, '']\n", ["1:20: unknown_scenario"]),
    ("bases in an object", "extends: { default: true }\n", ["1:10: type"]),
    ("a rule removed where none is inherited", "payments: [{name: a, remove: true}]\n", ["1:30: misplaced"]),
    ("an expectation removed where none is inherited", "expect: [{name: a, remove: true}]\n", ["1:28: misplaced"]),
    *(
        (f"removed: {text}", f"extends: default\n{text}\n", [place])
        for text, place in [
            ("payments: [{name: ordinry, remove: true}]", "2:19: unknown_name"),
            ("payments: [{id: payments-1, remove: true}]", "2:17: unknown_name"),
            ("payments: [{name: ordinary, id: a, remove: true}]", "2:33: unknown_name"),
            ("voids: [{name: ordinary, remove: true}]", "2:16: unknown_name"),
            ("payments: [{name: ordinary, remove: false}]", "2:37: unknown_value"),
            ("payments: [{name: ordinary, remove: 'true'}]", "2:37: unknown_value"),
            ("payments: [{name: ordinary, remove: }]", "2:37: unknown_value"),
            ("payments: [{name: ordinary, remove: true, times: 1}]", "2:37: misplaced"),
            ("payments: [{remove: true, then: [{status: Failed}], name: ordinary}]", "2:21: misplaced"),
            ("payments: [{remove: true}]", "2:21: misplaced"),
            ("payments: [{name: 5, remove: true}]", "2:30: misplaced"),
            ("payments: [{name: '', remove: true}]", "2:31: misplaced"),
            ("payments: [{name: ordinary, remove: true}, {name: ordinary, remove: true}]", "2:51: unknown_name"),
            (
                "payments: [{name: ordinary, then: [{status: Failed}]}, {name: ordinary, remove: true}]",
                "2:63: unknown_name",
            ),
            ("expect: [{id: a, remove: true}]", "2:26: misplaced"),
            ("expect: [{name: a, remove: true}]", "2:17: unknown_name"),
        ]
    ),
    ("an environment that there is not", "environment: prod\n", ["1:14: unknown_value"]),
    ("too many webhook retries", "webhooks: {retry_limit: 101}\n", ["1:25: out_of_range"]),
    ("no wait before a webhook retry", "webhooks: {retry_after: []}\n", ["1:25: out_of_range"]),
    ("a wait that is no duration", "webhooks: {retry_after: [10]}\n", ["1:26: type"]),
    ("a signature that there is not", "webhooks: {signature: none}\n", ["1:23: bad_signature"]),
    ("a signature in a header that cannot be", "webhooks: {signature: {header: 'X Y'}}\n", ["1:32: bad_header"]),
    *(
        (f"a signature in {name}", f"webhooks: {{signature: {{header: {name}}}}}\n", ["1:32: bad_header"])
        for name in ("Content-Length", "transfer-encoding", "Host", "Connection", "content-type", "User-Agent")
    ),
    ("a signature in no header", "webhooks: {signature: {prefix: v1}}\n", ["1:23: missing_key"]),
    ("a key of another kind", "webhooks: {signature: {header: X, key: hex}}\n", ["1:40: unknown_value"]),
    ("a short webhook secret", "webhooks: {catalog: {url: 'inbox:a', secret: abc}}\n", ["1:46: bad_secret"]),
    ("a webhook without address", "resellers: [{code: A, balance_webhook: {enabled: true}}]\n", ["1:40: missing_key"]),
    ("a webhook that is no URL", "resellers: [{code: A, balance_webhook: {url: here}}]\n", ["1:46: bad_url"]),
    (
        "a webhook with an address that is too long",
        f"resellers: [{{code: A, balance_webhook: {{url: 'https://a/{'x' * 500}'}}}}]\n",
        ["1:46: out_of_range"],
    ),
    (
        "a webhook of the schedule without https in production",
        "environment: production\nextends: default\n"
        "schedule: [{at: 1s, webhook: {reseller: RS001, url: 'http://a/'}}]\n",
        ["3:53: bad_url"],
    ),
    (
        "a webhook without https in production",
        "environment: production\nresellers: [{code: A, balance_webhook: {url: 'http://a/'}}]\n",
        ["2:46: bad_url"],
    ),
]

PLAIN_PRODUCT = "catalog:\n  products:\n    - code: P\n      name: P\n      processing_time: instant\n"
PLAIN_PRODUCT += "      discount: {type: fixed, value: 0}\n"
SECTION_MISTAKES = [
    ("voids: {}\n", "1:8: type"),
    ("voids: [{}]\n", "1:9: missing_key"),
    ("voids: [{then: {status: Approved}}]\n", "1:25: unknown_value"),
    ("voids: [{then: {status: Failed, refund_after: 1s}}]\n", "1:33: misplaced"),
    ("voids: [{then: {status: Success, refund_after: soon}}]\n", "1:48: bad_duration"),
    ("voids: [{then: {status: Success, refund_after: 1s, refused_after: 1s}}]\n", "1:52: misplaced"),
    ("voids: [{then: {status: Success, message: '{sn}'}}]\n", "1:43: bad_template"),
    ("voids: [{when: {refund_reason: x}, then: {status: Success}}]\n", "1:17: unknown_key"),
    ("voids: [{when: {product: NONE}, then: {status: Success}}]\n", "1:26: unknown_product"),
    ("voids: [{when: {reseller: NONE}, then: {status: Success}}]\n", "1:27: unknown_reseller"),
    ("disputes: [{when: {amount: ten}, then: {status: Success}}]\n", "1:28: bad_amount"),
    ("disputes: [{when: {refid: {pattern: '('}}, then: {status: Success}}]\n", "1:37: bad_pattern"),
    ("disputes: [{when: {refund_type: 1}, then: {status: Success}}]\n", "1:20: unknown_key"),
    ("bills: [{then: {}}]\n", "1:16: missing_key"),
    ("bills: [{then: {bill: {Name: x}}}]\n", "1:24: unknown_key"),
    ("bills: [{then: {bill: {Outstanding: much}}}]\n", "1:37: bad_amount"),
    ("bills: [{then: {bill: {transaction_validity: 1}}}]\n", "1:46: type"),
    ("bills: [{then: {error: a, bill: {}}}]\n", "1:17: misplaced"),
    ("bills: [{then: {error_message: a, bill: {}}}]\n", "1:17: misplaced"),
    ("bills: [{then: {error: a}, name: b}, {then: {error: a}, name: b}]\n", "1:63: duplicate"),
    ("voids: [{name: b, then: {status: Failed}}]\nbills: [{then: {error: a}, name: b}]\n", "2:34: duplicate"),
    ("inboxes: [a]\n", "1:10: type"),
    ("inboxes: {a b: [{status: 500}]}\n", "1:11: bad_inbox_name"),
    ("inboxes: {a: []}\n", "1:14: out_of_range"),
    ("inboxes: {a: [{status: 100}]}\n", "1:24: out_of_range"),
    ("inboxes: {a: [{status: 204, body: x}]}\n", "1:35: misplaced"),
    ("inboxes: {a: [{delay: 301s}]}\n", "1:23: out_of_range"),
    ("inboxes: {a: [{stattus: 200}]}\n", "1:16: unknown_key"),
    ("inboxes: {a: {}}\n", "1:14: out_of_range"),
    ("inboxes: {a: 500}\n", "1:14: type"),
    ("inboxes: {a: {reply: [{status: 500}]}}\n", "1:15: unknown_key"),
    ("inboxes: {a: {replies: []}}\n", "1:24: out_of_range"),
    ("inboxes: {a: {replies: [{status: 500}], repeat: forever}}\n", "1:49: type"),
    ("inboxes: {a: [{disconnect: false}]}\n", "1:28: unknown_value"),
    ("inboxes: {a: [{disconnect: true, status: 500}]}\n", "1:34: misplaced"),
    ("inboxes: {a: [{disconnect: true, headers: {Age: '1'}}]}\n", "1:34: misplaced"),
    ("inboxes: {a: [{headers: {Date: now}}]}\n", "1:26: bad_header"),
    ("inboxes: {a: [{status: 500, since: 1m}]}\n", "1:29: unknown_key"),
    ("inboxes: {a: {during: [{status: 500}]}}\n", "1:24: missing_key"),
    ("inboxes: {a: {during: [{since: 5000d, status: 500}]}}\n", "1:32: bad_duration"),
    ("inboxes: {a: {during: [{time: noon, status: 500}]}}\n", "1:31: type"),
    ("inboxes: {a: {during: [{time: {from: '25:00'}, status: 500}]}}\n", "1:38: bad_clock_time"),
    ("network: [FP]\n", "1:10: type"),
    ("extends: default\nnetwork: {FB: Interruption}\n", "2:11: unknown_product"),
    ("extends: default\nnetwork: {FP: Down}\n", "2:15: bad_network"),
    ("extends: default\nnetwork: {FP: []}\n", "2:15: out_of_range"),
    ("extends: default\nnetwork: {FP: [{at: 1s}]}\n", "2:16: missing_key"),
    ("extends: default\nnetwork: {FP: [{at: 1s, status: Down}]}\n", "2:33: unknown_value"),
    (
        "extends: default\nnetwork: {FP: [{at: 2s, status: Healthy}, {at: 1s, status: Healthy}]}\n",
        "2:48: timeline",
    ),
    (PLAIN_PRODUCT + "      bill: yes please\n", "7:13: type"),
    (PLAIN_PRODUCT + "      bill: {returns: [Name]}\n", "7:24: unknown_value"),
    (PLAIN_PRODUCT + "      bill: {outstanding: {min: 5, max: 4}}\n", "7:27: out_of_range"),
    (PLAIN_PRODUCT + "      bill: {outstanding: {min: 1.001}}\n", "7:33: bad_amount"),
    (PLAIN_PRODUCT + "      bill: {biller_field: biller}\n", "7:14: unknown_key"),
]

FAILS = "then: [{status: Failed}]"
FAILS_LATER = "then: [{status: Accepted}, {after: 1s, status: Failed}]"
KEY = "resellers: [{code: A, api_keys: [{key: k, secret: "
# name, text after `extends: default` (so it begins in line 2), places of the findings
USELESS_PARTS: list[tuple[str, str, list[str]]] = [
    (
        "a rule after a rule that takes everything",
        f"payments:\n- {{{FAILS}}}\n- {{name: b, when: {{product: GAME}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "behind an empty when",
        f"payments:\n- {{when: {{}}, {FAILS}}}\n- {{when: {{account: '1'}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    ("two that take everything", f"payments:\n- {FAILS}\n- {FAILS}\n", ["4:3: unreachable"]),
    (
        "all of them",
        f"payments:\n- {FAILS}\n- {FAILS}\n- {{when: {{account: a}}, {FAILS}}}\n",
        ["4:3: unreachable", "5:3: unreachable"],
    ),
    (
        "a narrower rule after a wider rule",
        f"payments:\n- {{when: {{product: GAME}}, {FAILS}}}\n- {{when: {{product: GAME, account: a}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "one of several products",
        f"payments:\n- {{when: {{product: [GAME, DATA]}}, {FAILS}}}\n- {{when: {{product: DATA}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "several of more products",
        f"payments:\n- {{when: {{product: {{in: [GAME, DATA]}}}}, {FAILS}}}\n"
        f"- {{when: {{product: [DATA]}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "the same pattern",
        f"payments:\n- {{when: {{account: {{prefix: '9'}}}}, {FAILS}}}\n"
        f"- {{when: {{account: {{prefix: '9'}}}}, times: 2, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "the same extra and one more",
        f"payments:\n- {{when: {{extras: {{a: '1'}}}}, {FAILS}}}\n"
        f"- {{when: {{extras: {{a: '1', b: '2'}}}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a chance of 1 takes everything",
        f"payments:\n- {{chance: 1, {FAILS}}}\n- {{when: {{account: a}}, {FAILS}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a fallback after a rule for everything",
        f"payments:\n- {{fallback: true, when: {{account: a}}, {FAILS}}}\n- {FAILS}\n",
        ["3:3: unreachable"],
    ),
    (
        "a void",
        "voids:\n- then: {status: Failed}\n- {when: {refid: a}, then: {status: Failed}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a dispute",
        "disputes:\n- then: {status: Failed}\n- {when: {refid: a}, then: {status: Failed}}\n",
        ["4:3: unreachable"],
    ),
    ("a bill", "bills:\n- then: {error: a}\n- {when: {account: a}, then: {error: b}}\n", ["4:3: unreachable"]),
    (
        "a fault",
        "faults:\n- {when: {method: GET}, then: {status: 500}}\n"
        "- {when: {method: GET, path: /v2/balance}, then: {status: 501}}\n",
        ["4:3: unreachable"],
    ),
    ("an nth that every leaves out", f"payments: [{{nth: 3, every: 2, {FAILS}}}]\n", ["2:18: unreachable"]),
    ("an nth beyond times", f"payments: [{{nth: 3, times: 2, {FAILS}}}]\n", ["2:18: out_of_range"]),
    ("the same within when", "faults: [{when: {nth: 3}, times: 2, then: {status: 500}}]\n", ["2:23: out_of_range"]),
    ("a range", f"payments: [{{when: {{amount: {{min: 10, max: 5}}}}, {FAILS}}}]\n", ["2:28: impossible"]),
    (
        "a range in an extra",
        f"payments: [{{when: {{extras: {{a: {{min: '10', max: 5.5}}}}}}, {FAILS}}}]\n",
        ["2:32: impossible"],
    ),
    (
        "a re-query after an immediate end",
        "payments:\n- then:\n  - status: Accepted\n  - {after: 0s, status: Failed}\n"
        "  - {requery: 2, status: Succesful}\n",
        ["6:15: unreachable"],
    ),
    ("a path that there is not", "faults: [{when: {path: /v2/topups}, then: {status: 500}}]\n", ["2:24: unknown_path"]),
    (
        "one of several paths",
        "faults: [{when: {path: [/v2/topup, /v2/ballance]}, then: {status: 500}}]\n",
        ["2:36: unknown_path"],
    ),
    ("a short secret", KEY + "c2hvcnQ=}]}]\n", ["2:51: short_secret"]),
]  # fmt: skip
