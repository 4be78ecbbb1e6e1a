"""The story of a payment as readable lines ordered by time, shared by clients and the command line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Event = tuple[str, int, int, str]  # time, rank within an instant, order within the rank, and text

LATER = "\uffff"  # sorts after every time
BY_REQUEST = ("requery", "void")  # causes of a status

# The order at equal times, as under a stopped clock: the request that created the payment and its effects, then due
# items, then requests about the existing payment with their effects.
FIRST_REQUEST, CREATION, DEBIT, DUE, DUE_ENTRY, DUE_CALLBACK, REQUEST, CASE, CAUSED, CAUSED_ENTRY, CAUSED_CALLBACK = (
    range(11)
)


def story_events(story: Row, held: Sequence[Row] = ()) -> list[dict[str, Any]]:
    """Return `at` and `text` of everything in a payment's story; `at` is None for future events. `held` are its
    requests and callbacks that are held now."""
    return [{"at": None if at == LATER else at, "text": text} for at, _, _, text in sorted(_events(story, held))]


def _events(story: Row, held: Sequence[Row]) -> Iterator[Event]:
    jobs = {row["job"]: f"held as {row['name']!r}" for row in held if row["job"]}
    for n, row in enumerate(row for row in held if not row["job"]):
        yield row["at"], REQUEST, n, f"{row['what']}: held as {row['name']!r}"
    statuses = story["statuses"]
    created_at = next((row["at"] for row in statuses if row["cause"] == "creation"), "")
    by_request = {(row["at"], row["status"]) for row in statuses if row["cause"] in BY_REQUEST}
    caused_at = {at for at, _ in by_request} - {
        row["at"] for row in statuses if row["cause"] not in (*BY_REQUEST, "creation")
    }
    for n, row in enumerate(sorted(story["requests"], key=lambda row: int(row["n"]))):
        is_first = n == 0 and not story["requests_left_out"]
        yield row["at"], FIRST_REQUEST if is_first else REQUEST, n, _request(row)
    for n, row in enumerate(statuses):
        rank = CAUSED if row["cause"] in BY_REQUEST else CREATION if row["cause"] == "creation" else DUE
        given = [f"{name} {row[name]}" for name in ("sn", "pin", "voucherlink", "remarks") if row[name]]
        status = f"status {row['status']} ({row['status_code']}) by {row['cause']}"
        yield row["at"], rank, n, ", ".join([status, *given])
    for n, row in enumerate(story["entries"]):
        rank = DEBIT if n == 0 and row["at"] == created_at else DUE_ENTRY
        rank = CAUSED_ENTRY if rank == DUE_ENTRY and row["at"] in caused_at else rank
        changed = f"wallet {row['amount']:+.2f} MYR ({row['type']}), balance {row['balance']:.2f} MYR"
        yield row["at"], rank, n, f"{changed}: {row['remarks']}" if row.get("remarks") else changed
    for n, callback in enumerate(story["callbacks"]):
        said = f"callback {callback['payment_status']}{' again' if callback['copy'] else ''} to {callback['url']}"
        for row in callback["attempts"]:
            rank = CAUSED_CALLBACK if (row["at"], callback["payment_status"]) in by_request else DUE_CALLBACK
            yield row["at"], rank, n, f"{said}, attempt {row['number']}: {_outcome(row)}"
        if not callback["attempts"]:
            yield LATER, DUE_CALLBACK, n, f"{said}: {jobs.get(callback['id'], callback['state'])}"
    for n, case in enumerate(story["cases"]):
        yield case["at"], CASE, n, f"{case['kind']} {case['status']}: {case['message']}"
        if case["ended"]:
            yield case["ended"], CAUSED_CALLBACK, n, f"{case['kind']} {case['state']}"


def _request(row: Row) -> str:
    query = f"?{row['query']}" if row["query"] else ""
    said = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no answer'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row[name]]
    line = ", ".join(said)
    return f"{line}: {row['diagnosis']}" if row["diagnosis"] else line


def _outcome(attempt: Row) -> str:
    answered = f"answered {attempt['status']}" if attempt["status"] else ""
    return str(attempt.get("error") or answered or attempt.get("ending") or "under way")
