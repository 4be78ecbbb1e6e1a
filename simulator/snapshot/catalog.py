"""The catalog in a snapshot: what differs from that of the scenario."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from simulator.domain.model.catalog import Catalog
from simulator.domain.state import State
from simulator.snapshot.values import Writing, opened

CATALOG = "catalog"


def written(state: State) -> Iterator[tuple[str, bytes]]:
    """The part of the catalog: its groups unless they are the scenario's, the codes of its products unless they are,
    and the products that are not."""
    ours, theirs, writing = state.catalog, state.scenario.catalog, Writing()
    content: list[object] = [None, None, []]
    if ours is not theirs:
        if ours.groups != theirs.groups:
            content[0] = writing.plain(ours.groups)
        if list(ours.products) != list(theirs.products):
            content[1] = list(ours.products)
        changed = [one for code, one in ours.products.items() if one != theirs.products.get(code)]
        content[2] = [writing.plain(one) for one in changed]
    yield CATALOG, writing.part([*content, writing.plain(state.catalog_updated)])


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Change the catalog of the scenario, which the state has already, as it was changed."""
    theirs = state.scenario.catalog
    with opened(parts, CATALOG) as (reading, (groups, codes, changed, updated)):
        state.catalog_updated = reading.value(updated)
        if groups is None and codes is None and not changed:
            state.catalog = theirs
            return
        products = dict(theirs.products) | {one.code: one for one in map(reading.value, changed)}
        in_order = {code: products[code] for code in codes or theirs.products}
        state.catalog = Catalog(theirs.groups if groups is None else reading.value(groups), MappingProxyType(in_order))
