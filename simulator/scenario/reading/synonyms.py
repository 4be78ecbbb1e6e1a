"""Synonyms of keys, as testers who know other tools write them, for suggestions in messages."""

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final

# Each key with its synonyms. Where a place has several keys for a synonym, the first listed key is suggested.
WORDS: Mapping[str, str] = {
    # matchers
    "more_than": "gt above over exceeds greater_than greater more",
    "min": "gte ge from least at_least minimum min_value",
    "max": "lte le lt to most at_most maximum max_value less_than below under",
    "in": "any_of one_of values oneof anyof among enum list",
    "not": "ne neq except exclude isnt not_in nin unless",
    "pattern": "regex regexp re matches match matching like glob",
    "prefix": "starts_with startswith begins_with beginning start begin",
    "suffix": "ends_with endswith ending end",
    # requests and payments
    "path": "url uri endpoint route resource",
    "method": "verb http_method",
    "headers": "header http_headers",
    "product": "product_code sku item code",
    "account": "phone msisdn number account_number mobile customer",
    "amount": "price value sum total denomination",
    "refid": "reference ref order order_id id request_id idempotency_key",
    "query": "parameters params query_string args querystring",
    "extras": "extra fields metadata params",
    "reseller": "merchant client user partner",
    "trxid": "transaction_id trx transaction",
    "new": "first created is_new",
    # rules
    "when": "if match condition conditions where given request",
    "then": "do action actions respond response reply result steps timeline",
    "any": "or either any_of one_of anyof",
    "time": "time_of_day hours hour clock",
    "weekday": "weekdays day days dow day_of_week",
    "since": "after from start from_start",
    "until": "before to end till",
    "times": "limit repeat max_times first",
    "nth": "on number_of_match",
    "every": "each interval nth_each",
    "chance": "probability percent percentage likelihood rate random",
    "name": "title label",
    "fallback": "default otherwise else",
    "callbacks": "callback notifications webhooks webhook",
    # choices
    "one_of": "oneof any_of anyof either choice choose random variants mix",
    "weight": "probability percent percentage share odds ratio chance",
    # timelines, refusals
    "after": "in delay wait time",
    "at": "time_of_day clock_time o_clock after in delay time when moment",
    "requery": "query poll re_query on_query",
    "statusCode": "code status_code response_code",
    "status": "state http_status response_status outcome code status_code http_code",
    "remarks": "message reason note description",
    "refuse": "reject decline deny error refusal",
    # faults, callbacks, inboxes
    "body": "json text content payload",
    "delay": "latency sleep wait pause slow after timeout",
    "disconnect": "close drop hang reset abort kill connection",
    "malformed": "corrupt broken invalid_json garbage",
    "drip": "slow throttle bandwidth trickle",
    "after_commit": "after_execution committed execute processed",
    "drop": "lose lost suppress skip disable",
    "duplicate": "duplicates copies again repeat twice",
    "again_after": "repeat_after resend_after again_in stale",
    "reverse": "reorder out_of_order shuffle",
    # sections
    "extends": "extend inherits inherit base parent include import from",
    "payments": "rules topups payment transactions",
    "faults": "errors failures fault chaos",
    "resellers": "accounts merchants clients users reseller",
    "schedule": "events scheduled cron",
    "timelines": "timeline flows sequences",
    "inboxes": "inbox receivers",
    "per": "by each group_by for_each per_value scope",
    "apart": "interval spacing gap distance min_interval",
    "expect": "expectations assert asserts assertions verify",
    "assume": "assumptions knobs",
    "scenario": "title name",
    "clock": "time",
    "catalog": "products",
    "network": "networkstatus network_status",
    # resellers
    "balance": "wallet credit funds money",
    "api_keys": "keys api_key credentials apikeys",
    "key": "api_key apikey key_id",
    "secret": "api_secret password",
    "ip_allowlist": "allowlist whitelist ips ip_whitelist",
    "balance_webhook": "webhook",
    # limits
    "requests_per_interval": "requests rate rate_limit rps requests_per_minute requests_per_second limit",
    "rate_limit_interval": "interval window period per",
}

# The conditions that only faults have, in addition to the common conditions of all rules.
FAULTS_ONLY = ("path", "method", "query", "headers", "new")

# Values in a foreign notation: the key, the value's ending, and the correct notation.
NOTES: tuple[tuple[str, str, str], ...] = (
    ("min", "outstanding", "write more_than: outstanding"),
    ("max", "outstanding", "only more_than takes 'outstanding'"),
    ("weight", "%", "weights are plain numbers"),
    ("chance", "%", "a probability is a number such as 0.1"),
    ("processing_time", "24h", "write 24_hours"),
    ("processing_time", "3d", "write 3_days"),
)


def meant(wrong: str, known: Collection[str]) -> str:
    """Return the known key that has `wrong` as a synonym; empty without such a key."""
    word = wrong.lower().replace("-", "_").replace(" ", "_")
    return next((key for key, words in WORDS.items() if key in known and word in words.split()), "")


def explained(wrong: str, known: Collection[str]) -> str:
    """Return why this place lacks the key, for cases that no single synonym explains; empty without an explanation."""
    if {"nth", "weekday"} <= set(known) and not {"when", *FAULTS_ONLY} & set(known) and not meant(wrong, known):
        key = wrong if wrong in FAULTS_ONLY else meant(wrong, FAULTS_ONLY)
        return f"; only faults have {'it' if key == wrong else repr(key)}" if key else ""
    if wrong in ("url", "callback_url") and {"retry_limit", "catalog"} <= set(known):
        return "; a reseller has it, as in resellers: [{ code: …, balance_webhook: { url: … } }]"
    if wrong == "refuse" and {"status", "requery"} <= set(known):
        return "; a refusal is no list: write then: { refuse: … }"
    if wrong in ("replies", "repeat") and {"disconnect", "since"} <= set(known):
        return "; an entry of 'during' is one reply"
    return ""


_UNITS: Mapping[str, str] = {"millisecond": "ms", "msec": "ms", "hour": "h", "hr": "h", "day": "d"} | {
    **dict.fromkeys(("second", "sec", "s"), "s"),
    **dict.fromkeys(("minute", "min"), "m"),
    **{unit: unit for unit in ("ms", "m", "h", "d")},
}
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]{1,3})?)[ _-]*([a-z]*?)s?", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(%?)")
_TYPOGRAPHIC: Final = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"


def noted(key: object, value: object, wanted: str = "") -> str:
    """Return the correct notation for a value of this key, where `wanted` describes valid values; empty without a
    suggestion."""
    found = [text for of, end, text in NOTES if of == key and isinstance(value, str) and value.endswith(end)]
    if wanted.startswith("a duration") and (span := _span(value)):
        found.append(f"write {span}")
    if isinstance(value, str) and value[:1] and value[0] in _TYPOGRAPHIC:
        found.append('write straight quotation marks, "…"')
    if isinstance(value, str) and "\uff1a" in value:
        found.append("write an ordinary colon and a blank instead of \uff1a (U+FF1A)")
    if key == "chance" and isinstance(value, int) and 1 < value <= 100:
        found.append(f"a probability is at most 1: for {value} percent write {Decimal(value) / 100:f}")
    return "".join(f"; {text}" for text in found)


def object_meant(value: object, rule: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object that a value of another kind means: a URL, an amount, or headers as lines; None without such a
    meaning. `rule` describes the object."""
    known = rule.get("properties", {})
    if isinstance(value, str) and "url" in known:
        return {"url": value if "://" in value or value.startswith("inbox:") else f"http://{value}"}
    if {"type", "value"} <= set(known) and (number := _AMOUNT.fullmatch(str(value))):
        return {"type": "percentage" if number[2] else "fixed", "value": Decimal(number[1])}
    if not known and isinstance(value, list) and value and all(isinstance(one, str) and ": " in one for one in value):
        return dict(one.split(": ", 1) for one in value)
    return None


def _span(value: object) -> str:
    """Return the duration that a number or a text with another unit means; empty for other values."""
    match = _SPAN.fullmatch(str(value)) if isinstance(value, str | int | Decimal) and value is not True else None
    unit = _UNITS.get(match[2].lower() or "s") if match else None
    return f"{match[1]}{unit}" if match and unit else ""
