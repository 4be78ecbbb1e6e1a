"""Compare the state of a server with what clients and the receiver saw. Each complaint is one sentence."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from tools.kills.books import Attempt, Books
from tools.kills.client_record import AFTER, FINAL, ClientRecord
from tools.kills.receiver import Which

LETTERS = {"delivered": "d", "failed": "f", "silent": "s"}


def after_a_restart(told: ClientRecord, called: Counter[Which], before: Books | None, books: Books) -> list[str]:
    """Return complaints about a restarted server. `called` is what the receiver saw before the restart; `before` is
    the state of an earlier server of the folder."""
    return [
        *_payments(told, books),
        *_ledger(told, books),
        *_callbacks(called, books),
        *([] if before is None else _kept(before, books)),
    ]


def at_the_end(told: ClientRecord, seen: dict[Which, list[str]], books: Books) -> list[str]:
    """Return complaints about a server that is idle."""
    return [*_over(told, books), *_arrived(seen, books)]


def nothing_untold(told: ClientRecord, books: Books) -> list[str]:
    """Return complaints about requests that a server executed and did not answer although it had time to."""
    untold = [f"{refid} is there, and was not answered" for refid in books.payments.keys() - told.payments.keys()]
    deposits = {one.id for one in books.ledger if one.type == "DEPOSIT"}
    untold += [f"the deposit {number} is there, and was not answered" for number in deposits - told.deposits.keys()]
    return untold


def _payments(told: ClientRecord, books: Books) -> Iterator[str]:
    yield from (f"{refid} is there twice" for refid in books.twice)
    yield from (f"{refid} was never asked for" for refid in books.payments.keys() - told.orders.keys())
    for refid, payment in told.payments.items():
        if refid not in books.payments:
            yield f"{refid} was answered {payment.status}, and is not there"
        elif books.payments[refid][1] not in AFTER[payment.status]:
            yield f"{refid} was answered {payment.status}, and is {books.payments[refid][1]}"


def _ledger(told: ClientRecord, books: Books) -> Iterator[str]:
    yield from (f"the server says of its own books: {violation}" for violation in books.violations)
    for earlier, later in pairwise(books.ledger):
        if later.id != earlier.id + 1 or later.balance != earlier.balance + later.amount:
            yield f"entry {later.id} does not follow entry {earlier.id}: {earlier.balance} and {later}"
    for kind in ("TRANSACTION", "REFUND"):
        entries = Counter(one.refid for one in books.ledger if one.type == kind)
        yield from (f"{refid} has {count} entries of {kind}" for refid, count in entries.items() if count > 1)
    yield from _told_amounts(told, books)


def _told_amounts(told: ClientRecord, books: Books) -> Iterator[str]:
    debits = {one.refid: one for one in books.ledger if one.type == "TRANSACTION"}
    for refid, payment in told.created.items():
        entry = debits.get(refid)
        if entry is None or (-entry.amount, entry.balance) != (payment.cost, payment.balance):
            yield f"{refid} was answered {payment}, and the statement has {entry}"
    by_id = {one.id: one for one in books.ledger}
    for number, (amount, balance) in told.deposits.items():
        found = by_id.get(number)
        if found is None or (found.type, found.amount, found.balance) != ("DEPOSIT", amount, balance):
            yield f"the deposit {number} was answered {amount} and {balance}, and the statement has {found}"
    balances = {one.balance for one in books.ledger} | {_first_balance(books)}
    yield from (f"the balance {one} was told, which there never was" for one in {*told.balances} - balances)


def _callbacks(called: Counter[Which], books: Books) -> Iterator[str]:
    made = Counter((one.refid, one.payment_status) for one in books.attempts)
    for which, count in called.items():
        if count > made[which]:
            yield f"{count} callbacks of {which} came, of which the server knows {made[which]}"
    for callback, attempts in _by_callback(books).items():
        numbers = [one.number for one in attempts]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"the attempts of {callback} are numbered {numbers}"
        if any(one.status == 200 for one in attempts[:-1]):
            yield f"{callback} was answered 200, and attempted again"
        if attempts[0].refid not in books.payments:
            yield f"{callback} is of {attempts[0].refid}, which is not there"


def _kept(before: Books, books: Books) -> Iterator[str]:
    for refid, (trxid, status) in before.payments.items():
        now = books.payments.get(refid)
        if now is None or now[0] != trxid or now[1] not in AFTER[status]:
            yield f"{refid} was {trxid} {status}, and is {now}"
    now_made = {(one.callback, one.number): one for one in books.attempts}
    for attempt in before.attempts:
        found = now_made.get((attempt.callback, attempt.number))
        if attempt.ending is not None and found != attempt:
            yield f"an attempt was {attempt}, and is {found}"
    entries = {one.id: one for one in books.ledger}
    yield from (f"{one} is {entries.get(one.id)} now" for one in before.ledger if entries.get(one.id) != one)


def _over(told: ClientRecord, books: Books) -> Iterator[str]:
    for refid, (_, status) in books.payments.items():
        if status not in FINAL:
            yield f"{refid} is {status} for ever"
    yield from (f"the void of {refid} was lost" for refid in told.voids if books.payments[refid][1] != "Refund")
    owned = _first_balance(books) + sum((one.amount for one in books.ledger), Decimal())
    if owned != books.balance:
        yield f"by its statement the wallet has {owned}, and it has {books.balance}"


def _first_balance(books: Books) -> Decimal:
    return books.ledger[0].balance - books.ledger[0].amount if books.ledger else books.balance


def _arrived(seen: dict[Which, list[str]], books: Books) -> Iterator[str]:
    """Check that each callback was delivered and that the log matches the receiver: all answered attempts in order,
    and some unanswered ones."""
    made = {(attempts[0].refid, attempts[0].payment_status): attempts for attempts in _by_callback(books).values()}
    for refid, (_, status) in books.payments.items():
        last = "Failed" if status == "Refund" else status
        for which in {(refid, "Processing"), (refid, last)} - made.keys():
            yield f"there was no callback of {which}"
    for which, attempts in made.items():
        answers = "".join(LETTERS[one] for one in seen.get(which, []))
        if attempts[-1].status != 200 or not re.fullmatch(_pattern(attempts), answers):
            yield f"the callbacks of {which}: the receiver answered {answers!r}, the server has {attempts}"
    yield from (f"callbacks of {which} came that the server knows nothing of" for which in seen.keys() - made.keys())


def _pattern(attempts: list[Attempt]) -> str:
    letters = {200: "d", 500: "f", None: ".?"}
    return "".join(letters[one.status] for one in attempts)


def _by_callback(books: Books) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for one in books.attempts:
        found.setdefault(one.callback, []).append(one)
    return {callback: sorted(attempts, key=lambda one: one.number) for callback, attempts in found.items()}
