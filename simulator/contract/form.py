"""Bodies that may be JSON or a form (SPEC 4.2), within bounds."""

from typing import Any

from simulator.contract.decode import BadJson, decode_object
from simulator.contract.query import decode_query

FORM = b"application/x-www-form-urlencoded"
FORM_BYTES_MAX = 64 * 1024


def decode_form(
    content_type: bytes, body: bytes, *, reject_duplicates: bool = False
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The members of a body, and what is wrong with it: texts by member, `body` for the whole.

    It is a form when the content type says so and JSON otherwise; an empty one has no members.
    """
    if len(body) > FORM_BYTES_MAX:
        return {}, {"body": [f"is longer than {FORM_BYTES_MAX} bytes"]}
    if not body:
        return {}, {}
    if content_type.partition(b";")[0].strip().lower() == FORM:
        if body.lstrip()[:1] == b"{":
            return {}, {"body": [f"looks like JSON, but Content-Type says {FORM.decode()}"]}
        return decode_query(body)
    try:
        return decode_object(body, reject_duplicates=reject_duplicates), {}
    except BadJson as bad:
        return {}, {"body": [str(bad)]}
