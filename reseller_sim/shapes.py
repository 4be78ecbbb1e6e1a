"""What the client reads of the control API's answers; contracts/schemas has all of them. Each answer is checked when it
arrives, so that nothing behind it meets a value of another kind."""

import re
from base64 import b64decode
from datetime import datetime
from typing import Any

from reseller_sim.checking import Kind, Shape

NUMBER_MAX = 2**63  # a seed may be that large
_IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can write and nobody can send or print
        return False
    return True


def _is_identity(value: Any) -> bool:
    return isinstance(value, str) and _IDENTITY.fullmatch(value) is not None


def _is_header(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < NUMBER_MAX


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and abs(value) < NUMBER_MAX)  # NaN is below nothing


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.isascii() and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode(value, validate=True) is not None
    except ValueError:
        return False


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_text, value))


def _is_query(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, [*value, *value.values()]))


TEXT = Kind("a text", _is_text)
IDENTITY = Kind("an id of letters and digits", _is_identity)
HEADER = Kind("a text that a header can have", _is_header)
BASE64 = Kind("Base64", _is_base64)
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
TIME = Kind("a time with its UTC offset", _is_time)
PAIR = Kind("a pair of texts", _is_pair)
QUERY = Kind("an object of texts", _is_query)
OBJECT: Shape = {}
ANYTHING = Kind("anything", lambda _: True)

HEALTH: Shape = {"status": Kind("ok", lambda value: value == "ok"), "version": TEXT}
CREDENTIALS = {"api_key?": HEADER, "api_secret?": BASE64, "username?": TEXT, "password?": TEXT}
SANDBOX: Shape = {
    "id": IDENTITY,
    "scenario": TEXT,
    "seed": WHOLE,
    "resellers": [{"code": TEXT, "balance": NUMBER, **CREDENTIALS}],
}
SANDBOXES: Shape = {"sandboxes": [SANDBOX]}
CLOCK: Shape = {"now": TIME, "mode": TEXT, "pending": WHOLE}
ADVANCED: Shape = {"now": TIME, "fired": [OBJECT], "left_out": WHOLE, "idle?": FLAG, "reason?": TEXT}
MARK: Shape = {"name": TEXT, "n": WHOLE, "at": TIME}
MADE_RULE: Shape = {"id": TEXT}
ENTRY: Shape = {"at": TIME, "type": TEXT, "amount": NUMBER, "balance": NUMBER, "remarks?": TEXT}

REQUEST: Shape = {
    "n": WHOLE, "at": TIME, "method": TEXT, "path": TEXT, "query?": TEXT, "status": WHOLE,
    "error?": TEXT, "rule?": TEXT, "fault?": TEXT, "diagnosis?": TEXT,
}  # fmt: skip
EXCHANGE: Shape = {"autopsy?": {"mistakes": [TEXT], "sentence": TEXT, "fix": TEXT}}
PAYMENT = {
    "trxid": TEXT, "refid": TEXT, "reseller": TEXT, "product": TEXT, "account": TEXT,
    "amount": NUMBER, "cost": NUMBER, "status": TEXT, "status_code": WHOLE, "rule?": TEXT,
}  # fmt: skip
_ENDED = {"at": TIME, "ending?": TEXT, "status?": WHOLE, "error?": TEXT}
CALLBACK: Shape = {
    "refid": TEXT, "state": TEXT, "url": TEXT, "payment_status": TEXT, "attempt": WHOLE, "copy?": WHOLE, **_ENDED,
}  # fmt: skip
STORY: Shape = {
    **PAYMENT,
    "requests": [REQUEST],
    "requests_left_out": WHOLE,
    "statuses": [
        {"at": TIME, "status": TEXT, "status_code": WHOLE, "cause": TEXT,
         "remarks?": TEXT, "sn?": TEXT, "pin?": TEXT, "voucherlink?": TEXT}
    ],
    "entries": [ENTRY],
    "callbacks": [
        {"state": TEXT, "url": TEXT, "payment_status": TEXT, "copy?": WHOLE, "attempts": [{"number": WHOLE, **_ENDED}]}
    ],
    "callbacks_left_out": WHOLE,
    "cases": [{"at": TIME, "kind": TEXT, "status": TEXT, "message": TEXT, "state": TEXT, "ended?": TIME}],
}  # fmt: skip
OBLIGATION: Shape = {
    "id": TEXT, "section": TEXT, "severity": TEXT, "state": TEXT, "title": TEXT, "advice": TEXT, "log": TEXT,
    "violations": WHOLE, "evidence": [WHOLE], "findings": [TEXT],
}  # fmt: skip
AUDIT: Shape = {"obligations": [OBLIGATION]}
RECEIVED: Shape = {
    "n": WHOLE, "at": TIME, "method": TEXT, "query": QUERY, "headers": [PAIR], "body": TEXT, "status?": WHOLE,
}  # fmt: skip
RECEIVED_PAGE: Shape = {"items": [RECEIVED]}
PAYMENTS_PAGE: Shape = {"transactions": [PAYMENT]}
REQUESTS_PAGE: Shape = {"requests": [REQUEST]}


def page_of(member: str, row: Shape) -> Shape:
    """One page of a list."""
    return {member: [row], "has_more": FLAG, "cursor?": ANYTHING}
