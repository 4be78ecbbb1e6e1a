"""Adds sentences to `X-Sim-Diagnosis` and the journal: none twice, and of many similar ones only the first."""

from collections.abc import Collection, Iterable
from itertools import islice

from simulator.api.call import Call, Problems
from simulator.domain.model.details import NAMES_MAX
from simulator.domain.model.likeness import nearest
from simulator.redaction import Secrets, redact, redact_urls
from simulator.runtime.journal import Exchange


def note(call: Call, text: str, told: str = "") -> None:
    """Add a sentence to a request's diagnosis, unless it is there already. The header says `told` in its place, if that
    is given: for a caller who has not proved who it is."""
    exchange = call.exchange
    if told or exchange.told:
        exchange.told = _with(exchange.told or exchange.diagnosis, told or text)
    exchange.diagnosis = _with(exchange.diagnosis, text)


def _with(noted: str, text: str) -> str:
    if f"; {text};" in f"; {noted};":
        return noted
    return f"{noted}; {text}" if noted else text


def hide_secrets(exchange: Exchange, own: Secrets) -> None:
    """Let what is noted of a request have no secrets of its own sandbox. A replay knows only those, and has to note the
    same: see `shown` for the others."""
    if exchange.diagnosis and not _is_in_own_words(exchange.diagnosis):
        exchange.diagnosis = redact_urls(redact(exchange.diagnosis, (own,)))
    if exchange.told:
        exchange.told = redact_urls(redact(exchange.told, (own,)))


def shown(exchange: Exchange, others: Iterable[Secrets]) -> str:
    """What is told of a request in the header of its answer: without the secrets of `others` either."""
    told = exchange.told or exchange.diagnosis
    return told if not told or _is_in_own_words(told) else redact(told, others)


def _is_in_own_words(text: str) -> bool:
    from simulator.auth.diagnose import OWN_WORDS  # imported lazily, as in `authentication`

    return text in OWN_WORDS


def note_problems(call: Call, problems: Problems) -> None:
    """Note the problems of a refused request's parameters."""
    for name, texts in problems.items():
        note(call, f"{name or 'the request'} {' and '.join(texts)}")


def note_some(call: Call, said: Iterable[str], count: int, what: str) -> None:
    """Note the first of `count` sentences, which are generated lazily, and how many more there are; `what` says what
    they have in common."""
    for text in islice(said, NAMES_MAX):
        note(call, text)
    if count > NAMES_MAX:
        note(call, f"and {count - NAMES_MAX} more that {what}")


def hint(wrong: str, known: Iterable[str], sent: Collection[str] = ()) -> str:
    """`; did you mean X?` when one of `known` is similar and was not sent already, else nothing."""
    return suggestion(nearest(wrong, known), sent)


def suggestion(likely: str, sent: Collection[str] = ()) -> str:
    """`; did you mean X?` for a likely name, unless it is empty or was sent already."""
    return f"; did you mean {likely}?" if likely and likely not in sent else ""
