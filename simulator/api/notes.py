"""Notes in `X-Sim-Diagnosis` and in the journal about parts of a request that are ignored or probably wrong.

The known parameters of an endpoint are those of the contract's schema, so checking a valid request costs one comparison
of sets.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from simulator.api.call import Call, Endpoint, Problems
from simulator.api.versions import version_problem
from simulator.auth import headers as names
from simulator.contract.query import admits_several, decode_query, parameters
from simulator.contract.schemas import Schema
from simulator.domain.model.details import near
from simulator.domain.model.options import data_source
from simulator.wire.diagnoses import shown

NAMES_MAX = 5


def note(call: Call, text: str) -> None:
    """Add a sentence to a request's diagnosis, unless it is there already."""
    noted = call.exchange.diagnosis
    if f"; {text};" not in f"; {noted};":
        call.exchange.diagnosis = f"{noted}; {text}" if noted else text


def note_problems(call: Call, problems: Problems) -> None:
    """Note the problems of a refused request's parameters."""
    for name, texts in problems.items():
        note(call, f"{name} {' and '.join(texts)}".strip())


def note_unread(call: Call, endpoint: Endpoint) -> None:
    """Note what the endpoint does not read: a body, a query, an invalid API version."""
    exchange, source = call.exchange, endpoint.source
    if exchange.body and (source == "query" or not source):
        read = "the parameters belong in the query" if source else "this endpoint reads none"
        note(call, f"a body was sent, but {read}")
    if exchange.query and source != "query":
        values, problems = decode_query(exchange.query)
        if source == "form":  # Without names: a name may be the rest of a password that contains &.
            note(call, "a query was sent, but the members belong in the body")
        else:
            _note_unknown(call, [*values, *problems], {})
    if (version := call.headers.get(names.API_VERSION)) is not None and (problem := version_problem(version)):
        note(call, problem)


def note_unknown(call: Call, endpoint: Endpoint) -> None:
    """Note unknown parameters of a query; cheap when there are none."""
    known = parameters(endpoint.schema)
    if not call.fields.keys() <= known.keys():
        further = _of_data_source(call)
        _note_unknown(call, [name for name in call.fields if name not in known and name not in further], known)


def note_some(call: Call, said: Iterable[str], count: int, what: str) -> None:
    """Note the first of `count` sentences, which are generated lazily, and the number of the others with `what` they
    say."""
    for text in islice(said, NAMES_MAX):
        note(call, text)
    if count > NAMES_MAX:
        note(call, f"and {count - NAMES_MAX} more that {what}")


def hint(wrong: str, known: Iterable[str]) -> str:
    """`; did you mean X?` when one of `known` is similar, else empty."""
    likely = near(wrong, known)
    return f"; did you mean {likely}?" if likely else ""


def _note_unknown(call: Call, unknown: list[str], known: Mapping[str, Schema]) -> None:
    said = (f"no parameter {shown(name) or 'without a name'}{_hint(name, known)}" for name in unknown)
    note_some(call, said, len(unknown), "are not known")


def _hint(name: str, known: Mapping[str, Schema]) -> str:
    if name.endswith("[]") and name[:-2] in known:
        return f"; send {name[:-2]} itself{', once for each value' if admits_several(known[name[:-2]]) else ''}"
    return hint(name, known) or (f"; there are {', '.join(known)}" if known else "; this endpoint reads none")


def _of_data_source(call: Call) -> Collection[str]:
    """The parameters that the catalog defines for a select field (SPEC 2.1)."""
    product = call.sandbox.core.state.catalog.products.get(str(call.fields.get("product_code")))
    source = product and data_source(product, str(call.fields.get("field_id")))
    return source.params.keys() if source else ()
