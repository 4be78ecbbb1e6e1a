"""The obligations by subject, each judged by the function of its name, and the audit of a client by all of them."""

from functools import cache

from simulator.audit.clauses import Clause, Obligation, judged
from simulator.audit.client_traffic import Traffic
from simulator.audit.obligations import catalog_use, credentials, lists, orders, pace, receivers
from simulator.contract.files import yaml_document

SUBJECTS = (credentials, orders, pace, catalog_use, lists, receivers)


@cache
def all_clauses() -> tuple[Clause, ...]:
    """Return every obligation in report order."""
    judges = {name.replace("_", "-"): judge for subject in SUBJECTS for name, judge in vars(subject).items()}
    return tuple(
        Clause(
            id=row["id"],
            section=row["section"],
            severity=row["severity"],
            title=row["obligation"],
            advice=row["advice"],
            log=row.get("log", "requests"),
            judge=judges[row["id"]],
        )
        for row in yaml_document("obligations")
    )


def audited(traffic: Traffic) -> list[Obligation]:
    """Return every obligation, judged by this traffic. Evicted records are not judged."""
    return [judged(clause, traffic) for clause in all_clauses()]
