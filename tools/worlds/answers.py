"""Check each answer as soon as it is given: no internal error, valid by the contract, one number in the journal, a
status that the request may have, and consistent with every acknowledged payment."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from simulator.contract.responses import MISTAKE
from simulator.runtime.journal import Exchange
from tests.support.contract_check import assert_in_contract
from tools.worlds.clients import Answered, Asked
from tools.worlds.loop import VirtualLoop
from tools.worlds.memory import Life, Payment

ENDED_DELAY = b"during the delay of a fault"  # the life of the sandbox ended during the delay, at any time
CHECKED_EVERY = 40
"""The interval between answers that are checked against the contract. A check takes as long as an answer."""

# How far a payment is: its status never goes back, and a final one stays, but for a void.
RANKS = {"Accepted": 0, "Processing": 1, "Succesful": 2, "Failed": 2, "Refund": 3}
UNKNOWN = ("invalid_api_key", "invalid_token")  # without a known client, whose address is therefore not checked
SHUT_OUT = ("ip_blocked", "ip_not_allowed")
NEVER_CREATED = ("Invalid_Request", "Refid_Conflict")


class Answers:
    """The checks of all answers. `life_of` returns the current life of a sandbox, `check_clocks` checks all clocks,
    `log` records every byte, and `offset` selects the answers that are validated against the contract."""

    def __init__(
        self,
        loop: VirtualLoop,
        life_of: Callable[[str], Life | None],
        check_clocks: Callable[[], None],
        log: Callable[[str, bytes], None],
        offset: int,
    ) -> None:
        self._loop = loop
        self._check_clocks = check_clocks
        self._life_of = life_of
        self._log = log
        self._offset = offset
        self.problems: list[str] = []
        self.count = 0

    def judge(self, asked: Asked, answered: Answered) -> None:
        """Check an answer and append mistakes to `problems`."""
        self.count += 1
        self._check_clocks()
        self._log(f"{asked.method} {asked.box} {asked.target} {answered.status}\n", answered.lines + answered.body)
        is_sample = (self.count + self._offset) % CHECKED_EVERY == 0
        if not asked.box:  # of the control API
            if is_sample:
                self._check_contract(asked, answered)
            if answered.status >= MISTAKE:
                self._object(asked, answered, "is a mistake of ours")
            return
        if asked.live is None and (at_root := self._life_of("default")):  # which records requests to unknown sandboxes
            self._number(at_root, asked, answered)
        life = self._life_of(asked.box)
        if life is None or asked.live is not life.live:  # it was deleted, or is another of this name
            has_waited = asked.began_us != self._loop.now_us or ENDED_DELAY in answered.lines
            was_committed = asked.live is not None and has_waited
            if answered.status != 404 and not was_committed:
                self._object(asked, answered, "is of a sandbox that does not exist")
            return
        exchange = self._number(life, asked, answered)
        if exchange is not None:
            if is_sample and not exchange.fault:
                self._check_contract(asked, answered)
            self._judge(life, exchange, asked, answered)

    def _object(self, asked: Asked, answered: Answered, text: str) -> None:
        body = answered.body[:200].decode("utf-8", "replace")
        self.problems.append(
            f"{asked.method} {asked.box}{asked.target} {asked.body[:120]!r}: {answered.status} {body} {text}"
        )

    def _check_contract(self, asked: Asked, answered: Answered) -> None:
        pairs = [line.split(b": ", 1) for line in answered.lines.split(b"\r\n") if line]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        if not answered.is_whole or b"text/event-stream" in answered.lines:
            return
        try:
            path = asked.target if asked.box in ("", "default") else f"/s/{asked.box}{asked.target}"
            assert_in_contract(asked.method, path, answered.status, headers, answered.body)
        except AssertionError as error:
            self._object(asked, answered, str(error))

    def _number(self, life: Life, asked: Asked, answered: Answered) -> Exchange | None:
        """Check the journal's record of this answer, which has the next number."""
        life.answers += 1
        if life.journal.last_n != life.answers:
            text = f"is number {life.journal.last_n} of the journal, and answer {life.answers} of this sandbox"
            self._object(asked, answered, text)
            life.answers = life.journal.last_n
        return life.journal.find(life.journal.last_n)

    def _judge(self, life: Life, exchange: Exchange, asked: Asked, answered: Answered) -> None:
        is_scripted = bool(exchange.fault)
        if is_scripted and asked.core is life.core:
            self._count_fault(life, exchange, asked, answered)
        if answered.status == MISTAKE and not is_scripted:
            self._object(asked, answered, f"is a mistake of ours: {exchange.diagnosis}")
        if is_scripted or asked.core is not life.core or answered.status in (404, 409):
            return
        if exchange.error in SHUT_OUT:
            self._judge_shut_out(life, exchange, asked, answered)
            return
        if life.shut.get(asked.code) and exchange.error not in UNKNOWN and answered.status not in (0, 405):
            self._object(asked, answered, "was given to an address that is not on the list")
        if asked.expects and answered.status not in asked.expects:
            self._object(asked, answered, f"is none of {asked.expects}: {exchange.error} {exchange.diagnosis}")
        if (
            life.revoked.get(asked.key)
            and answered.status not in (0, 405)
            and exchange.error not in ("invalid_api_key",)
        ):
            self._object(asked, answered, "was given to a revoked key")
        if asked.nonce and exchange.reseller:
            self._note_nonce(life, exchange, asked, answered)
        elif exchange.error == "nonce_reused" and not asked.is_reused:
            self._object(asked, answered, "is about a nonce that was new")
        if asked.payment is not None and answered.is_whole:
            self._judge_payment(life, asked, answered)

    def _count_fault(self, life: Life, exchange: Exchange, asked: Asked, answered: Answered) -> None:
        life.faults_met[exchange.fault] += 1
        times = life.fault_times.get(exchange.fault)
        if times is not None and life.faults_met[exchange.fault] > times:
            self._object(asked, answered, f"meets the fault {exchange.fault} more often than {times} times")

    def _judge_shut_out(self, life: Life, exchange: Exchange, asked: Asked, answered: Answered) -> None:
        limit = life.live.scenario.limits.requests_per_interval
        counted = life.answers + len(list(life.live.tape.waiting_requests())) + life.gone
        is_blocked = limit is not None and counted > limit
        if exchange.error == "ip_blocked" and not is_blocked:
            self._object(asked, answered, f"blocks after {counted} requests, {limit} are allowed")
        if exchange.error == "ip_not_allowed" and asked.code not in life.shut:
            self._object(asked, answered, "shuts out an address of a reseller that allows all")

    def _note_nonce(self, life: Life, exchange: Exchange, asked: Asked, answered: Answered) -> None:
        """Check an accepted nonce: it must be outside its window and have another timestamp than its last use."""
        at = life.live.clock.now()
        key = (asked.key, asked.nonce)
        window = life.live.scenario.limits.nonce_window
        if key in life.nonces:
            spent_at, timestamp_s = life.nonces[key]
            if at - spent_at < window or asked.timestamp_s <= timestamp_s:
                self._object(asked, answered, "was given to a nonce that was spent")
        life.nonces[key] = (at, asked.timestamp_s)

    def _judge_payment(self, life: Life, asked: Asked, answered: Answered) -> None:
        wanted, account = asked.payment, life.accounts.get(asked.code)
        if wanted is None or account is None or answered.status not in (200, 400):
            return
        data = msgspec.json.decode(answered.body)["data"]
        known = account.acknowledged.get(wanted["refid"])
        if answered.status == 400:
            if known is not None and data["remarks"] not in NEVER_CREATED:
                self._object(asked, answered, "refuses a payment that was acknowledged")
            return
        is_now = asked.began_us == self._loop.now_us
        problem = _told(account.acknowledged, known, wanted, data, is_now)
        if problem:
            self._object(asked, answered, problem)
        reseller = life.core.state.resellers[asked.code]
        if is_now and Decimal(str(data["balance"])) != reseller.wallet.balance:
            self._object(asked, answered, f"tells another balance than {reseller.wallet.balance}")


def _told(
    acknowledged: dict[str, Payment], known: Payment | None, wanted: dict[str, Any], data: dict[str, Any], is_now: bool
) -> str:
    """Check the answer to a topup, and record what it acknowledges."""
    told = Payment(
        data["refid"], data["product"], data["account"], Decimal(str(data["amount"])), Decimal(str(data["cost"]))
    )
    told.rank = RANKS[data["status"]]
    told.final = data["statusCode"] if told.rank == 2 else 0
    if told.refid != wanted["refid"]:
        return f"is about another refid than {wanted['refid']}"
    if known is None:
        acknowledged[told.refid] = told
        return ""
    if (known.product, known.account, known.amount) != (told.product, told.account, told.amount):
        return f"tells another payment than {known}"
    if is_now:
        if told.rank < known.rank or (told.final and known.final and told.final != known.final):
            return f"goes back from {known}"
        known.rank, known.final = told.rank, told.final or known.final
        known.cost = told.cost
    return ""
