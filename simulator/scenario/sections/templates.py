"""Texts with placeholders: `SN-{refid}-{digits:4}`. Draws depend on the sandbox's seed, the place in the scenario and
the transaction, and so are the same in every run."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial

from simulator.domain.model import draw
from simulator.domain.model.rules import Fields, Text
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import text_of

NAMES = ("refid", "trxid", "account", "product", "amount", "reseller")
DRAWN_MAX = 64
CHARS_MAX = 500
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+", re.ASCII)
_DRAWN = re.compile(r"(digits|alnum):([0-9]{1,3})", re.ASCII)


def templates(item: Reader, names: Iterable[str]) -> dict[str, Text]:
    """The templates of the members `names` that are given and valid."""
    found: dict[str, Text] = {}
    for name in filter(item.has, names):
        compiled = item[name].parsed(partial(template, field_name=name), "bad_template")
        if compiled is not None:
            found[name] = compiled
    return found


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled text, called with the facts of a transaction. Two are equal when their texts are, so that catalogs can
    be compared: a reload of an unchanged file changes nothing."""

    text: str
    field_name: str
    make: Text = field(compare=False)

    def __call__(self, facts: Fields) -> str:
        """The text with its placeholders filled."""
        return self.make(facts)


@lru_cache(maxsize=4096)
def template(text: str, field_name: str) -> Template:
    """Compile `text`, the value of a result's `field_name`. Raises `ValueError` for an unknown placeholder."""
    return Template(text, field_name, _compiled(text, field_name))


def _compiled(text: str, field_name: str) -> Text:
    if len(text) > CHARS_MAX:
        raise ValueError(f"must have at most {CHARS_MAX} characters")
    parts: list[str | Text] = []
    drawn_before = 0
    for match in _PARTS.finditer(text):
        parts.append(_part(match, field_name, drawn_before))
        drawn_before += match[1] is not None and _DRAWN.fullmatch(match[1]) is not None
    if all(isinstance(part, str) for part in parts):
        fixed = "".join(map(str, parts))
        return lambda facts: fixed
    makers = [_constant(part) if isinstance(part, str) else part for part in parts]
    return lambda facts: "".join([make(facts) for make in makers])


def _part(match: re.Match[str], field_name: str, drawn_before: int) -> str | Text:
    whole, name = match[0], match[1]
    if whole in ("{{", "}}"):
        return whole[0]
    if whole in ("{", "}"):
        raise ValueError(f"has a single {whole!r}; write {whole * 2!r} for a brace")
    if name is None:
        return whole
    if name in NAMES:
        return _fact(name)
    drawn = _DRAWN.fullmatch(name)
    if drawn is None:
        known = ", ".join(f"{{{one}}}" for one in (*NAMES, "digits:N", "alnum:N"))
        raise ValueError(f"has the unknown placeholder {whole}; known: {known}")
    count = int(drawn[2])
    if not 0 < count <= DRAWN_MAX:
        raise ValueError(f"draws {count} characters; N is from 1 to {DRAWN_MAX}")
    return _draw(draw.digits if drawn[1] == "digits" else draw.alphanumeric, count, field_name, drawn_before)


def _constant(text: str) -> Text:
    return lambda facts: text


def _fact(name: str) -> Text:
    return lambda facts: text_of(facts[name])


def _draw(drawer: Callable[..., str], count: int, field_name: str, drawn_before: int) -> Text:
    def drawn(facts: Fields) -> str:
        # The index among the drawing placeholders distinguishes those of one text.
        identity = ("text", field_name, facts["trxid"], *((drawn_before,) if drawn_before else ()))
        return drawer(facts["seed"], count, *identity)

    return drawn
