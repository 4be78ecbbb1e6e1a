"""Documented refusals that Schemathesis reports: the text of the answer, and the place that documents it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from tools.fuzzing.refusals import CONTROL, RESELLER

SUGGESTION = "; did you mean "
"""A name that exists in the sandbox follows. No pattern of a refusal contains the suggestion."""


@dataclass(frozen=True)
class Reason:
    """A kind of refusal of a request that its schema allows.

    `operations` and `said` are patterns for the operation id and for a text of the answer (`answered`). `where` names a
    section of docs/service.md ("SPEC 4.11"), an assumption ("bill-400") or a section of docs/control-api.md
    ("Sandboxes"). `names` is the term used there; `why` is a short explanation.
    """

    operations: str
    status: int
    said: str
    where: str
    names: str
    why: str

    @property
    def label(self) -> str:
        """The label under which refusals are counted."""
        return f"{self.status} of {self.operations}, {self.where}: {self.why}"

    def explains(self, operation: str, status: int, said: str) -> bool:
        """Return True when this reason explains the answer."""
        return (
            self.status == status
            and re.fullmatch(self.operations, operation) is not None
            and re.fullmatch(self.said, said.partition(SUGGESTION)[0], re.DOTALL) is not None
        )


REASONS = [Reason(*row) for row in (*RESELLER, *CONTROL)]

# The only check that anything is taken from: requests that the schema allows and the service refuses.
REFUSED = "RejectedPositiveData"


# The one leniency that the register has: a null that the schema does not allow.
LENIENT = "AcceptedNegativeData"
NULL_MEMBERS = "null-members"


def is_valid_without_nulls(body: object, schema: Mapping[str, Any], components: Mapping[str, Any]) -> bool:
    """Return True when the only mistakes of a body are null members, or extras that are no text. The service reads
    only the extras of the product (`unsupported-extras`)."""
    wanted = jsonschema_rs.validator_for({**schema, "components": components})
    return not wanted.is_valid(body) and wanted.is_valid(_with_texts(_without_nulls(body)))


def _with_texts(body: object) -> object:
    if isinstance(body, dict) and isinstance(extras := body.get("extras"), dict):
        return body | {"extras": {name: each for name, each in extras.items() if isinstance(each, str)}}
    return body


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return value


def explained(check: str, operation: str, status: int, body: bytes) -> list[Reason] | None:
    """Return the reasons for all texts of an answer, or None when one text has no reason."""
    if check != REFUSED:
        return None
    found = [
        next((reason for reason in REASONS if reason.explains(operation, status, said)), None)
        for said in answered(body)
    ]
    return None if None in found else [reason for reason in found if reason is not None]


def answered(body: bytes) -> list[str]:
    """Return the texts of a refusal, one for each mistake, with its field or its code and place."""
    try:
        whole = json.loads(body)
    except ValueError:
        return [body.decode(errors="replace")]
    return list(_said(whole)) if isinstance(whole, dict) else [str(whole)]


def _said(whole: dict[str, Any]) -> Iterator[str]:
    if "error" in whole:
        yield ": ".join(str(whole[name]) for name in ("error", "path", "message") if whole.get(name))
    elif errors := whole.get("errors"):
        yield from (f"{name}: {text}" for name, texts in errors.items() for text in texts)
    elif "error_message" in whole:
        yield str(whole["error_message"])
    else:
        data = whole.get("data")
        yield str(data["remarks"] if isinstance(data, dict) and "remarks" in data else whole.get("message", whole))
