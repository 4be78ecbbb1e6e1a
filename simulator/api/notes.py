"""Sentences for `X-Sim-Diagnosis` and the journal: each is said once, and of many only the first."""

from collections.abc import Collection, Iterable
from itertools import islice

from simulator.api.call import Call, Problems
from simulator.domain.model.details import near

NAMES_MAX = 5


def note(call: Call, text: str) -> None:
    """Add a sentence to a request's diagnosis, unless it stands there."""
    told = call.exchange.diagnosis
    if f"; {text};" not in f"; {told};":
        call.exchange.diagnosis = f"{told}; {text}" if told else text


def note_problems(call: Call, problems: Problems) -> None:
    """Note what is wrong with the parameters of a request that is refused."""
    for name, texts in problems.items():
        note(call, f"{name or 'the request'} {' and '.join(texts)}")


def note_some(call: Call, said: Iterable[str], count: int, what: str) -> None:
    """Note the first of `count` sentences, which are made as they are needed, and how many others there are and what
    they are about."""
    for text in islice(said, NAMES_MAX):
        note(call, text)
    if count > NAMES_MAX:
        note(call, f"and {count - NAMES_MAX} more that {what}")


def hint(wrong: str, known: Iterable[str], sent: Collection[str] = ()) -> str:
    """`; did you mean X?` when one of `known` is near and was not sent already, else nothing."""
    return suggestion(near(wrong, known), sent)


def suggestion(likely: str, sent: Collection[str] = ()) -> str:
    """`; did you mean X?` for what is likely, unless it was sent already."""
    return f"; did you mean {likely}?" if likely and likely not in sent else ""
