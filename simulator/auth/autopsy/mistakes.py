"""The table of known mistakes, each with what the client does, what it should do, and how its step is done then."""

from simulator.auth.autopsy import bodies, keys, parameters, queries, strings

MISTAKES = (*keys.MISTAKES, *strings.MISTAKES, *queries.MISTAKES, *parameters.MISTAKES, *bodies.MISTAKES)
"""In the order in which two that are found together are told; of one step, the likeliest comes first."""
BY_ID = {mistake.id: mistake for mistake in MISTAKES}
WITHOUT_SECRET = frozenset(
    {"secret-is-api-key", "secret-is-empty", "secret-of-another", "secret-replaced", "hash-without-secret"}
)
"""What others than the owner of the key's secret can do, too. Only who may read the journal learns of it."""
