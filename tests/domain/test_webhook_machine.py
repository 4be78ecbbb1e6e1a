"""Webhooks against a model so simple that it is right: attempts on schedule, replays counted, nothing lost."""

from datetime import datetime, timedelta
from decimal import Decimal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition
from hypothesis.stateful import rule as step_rule

from simulator.domain.commands import (
    Credit,
    EnableWebhook,
    RemoveWebhook,
    ReplayDelivery,
    RotateWebhookSecret,
    SetWebhook,
)
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, Send
from simulator.domain.model.scenario import Limits
from simulator.domain.model.wallet import EntryType
from simulator.domain.model.webhooks import Delivery, DeliveryState, ReplayRefused
from tests.support.tiers import examples
from tests.support.worlds import START, delivered, fire_due, sandbox

KEPT = 12
WAITS = [timedelta(seconds=10), timedelta(seconds=60), timedelta(seconds=300)]
RESELLERS = st.sampled_from(["R1", "R2"])


class Webhooks(RuleBasedStateMachine):
    """The model: whether each reseller has an enabled webhook, what was published, replayed and is in flight."""

    def __init__(self) -> None:
        super().__init__()
        self.box = sandbox(limits=Limits(deliveries=KEPT))
        self.now: datetime = START
        self.urls: dict[str, str] = {}
        self.enabled: set[str] = set()
        self.jobs: dict[str, Delivery] = {}
        self.expected = 0
        self.replayed: dict[str, int] = {}
        self.in_air: list[Send] = []
        self.ended: list[str] = []
        self.secrets: set[str] = set()

    @step_rule(code=RESELLERS, url=st.sampled_from(["inbox:a", "https://b.example/"]))
    def put(self, code: str, url: str) -> None:
        created = self.box.apply(SetWebhook(code, url), self.now)
        assert created == (code not in self.urls)
        if created:
            self.enabled.add(code)
            self.new_secret(code)
        self.urls[code] = url

    @step_rule(code=RESELLERS)
    def rotate(self, code: str) -> None:
        assert self.box.apply(RotateWebhookSecret(code), self.now) == (code in self.urls)
        if code in self.urls:
            self.new_secret(code)

    def new_secret(self, code: str) -> None:
        secret = self.box.state.resellers[code].webhook.secret
        assert len(bytes.fromhex(secret)) == 32
        assert secret not in self.secrets
        self.secrets.add(secret)

    @step_rule(code=RESELLERS, wanted=st.booleans())
    def enable(self, code: str, wanted: bool) -> None:
        assert self.box.apply(EnableWebhook(code, wanted), self.now) == (code in self.urls)
        if code in self.urls:
            (self.enabled.add if wanted else self.enabled.discard)(code)

    @step_rule(code=RESELLERS)
    def remove(self, code: str) -> None:
        self.box.apply(RemoveWebhook(code), self.now)
        self.urls.pop(code, None)
        self.enabled.discard(code)

    @step_rule(code=RESELLERS, cents=st.integers(1, 100_000), type_=st.sampled_from(list(EntryType)[:1] * 4 + ["c"]))
    def credit(self, code: str, cents: int, type_: str) -> None:
        is_deposit = type_ == EntryType.DEPOSIT
        kind = EntryType.DEPOSIT if is_deposit else EntryType.COMMISSION
        self.box.apply(Credit(code, Decimal(cents) / 100, "x", kind), self.now)
        self.expected += is_deposit and code in self.enabled
        self.learn_jobs()

    @step_rule(data=st.data(), by_owner=st.booleans())
    def replay(self, data: st.DataObject, by_owner: bool) -> None:
        if not self.jobs:
            return
        job = self.jobs[data.draw(st.sampled_from(sorted(self.jobs)))]
        before = self.replayed.get(job.event.id, 0)
        outcome = self.box.apply(ReplayDelivery(job.reseller if by_owner else None, job.id), self.now)
        if isinstance(outcome, Delivery):
            assert job.state is DeliveryState.FAILED
            assert before < 3
            assert (outcome.original, outcome.event.id) == (job.id, job.event.id)
            assert outcome.url == self.urls[job.reseller]
            self.replayed[job.event.id] = before + 1
            self.expected += 1
        elif outcome is ReplayRefused.LIMIT:
            assert before == 3
        elif outcome in (ReplayRefused.NO_WEBHOOK, ReplayRefused.DISABLED):
            assert job.reseller not in self.enabled
        elif outcome is ReplayRefused.UNKNOWN:
            assert job.id in self.ended[:-KEPT]
        else:
            assert job.state is not DeliveryState.FAILED
        self.learn_jobs()

    @step_rule(code=RESELLERS, other=RESELLERS)
    def replay_anothers(self, code: str, other: str) -> None:
        for job in [job for job in self.jobs.values() if job.reseller == other != code][:3]:
            assert self.box.apply(ReplayDelivery(code, job.id), self.now) is ReplayRefused.UNKNOWN

    @step_rule(seconds=st.sampled_from([0, 1, 10, 60, 300, 600]))
    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        for fired in fire_due(self.box, self.now):
            if fired.send:
                self.in_air.append(fired.send)
        self.note_ends()

    @precondition(lambda self: self.in_air)
    @step_rule(data=st.data(), status=st.sampled_from([200, 204, 302, 404, 500, None]))
    def receiver_answers(self, data: st.DataObject, status: int | None) -> None:
        send = self.in_air.pop(data.draw(st.integers(0, len(self.in_air) - 1)))
        outcome = (
            AttemptResult(AttemptEnd.ANSWERED, status)
            if status
            else AttemptResult(AttemptEnd.TIMEOUT, error="no answer")
        )
        due_before = self.box.state.agenda.next_due
        delivered(self.box, send, outcome, self.now)
        job = send.job
        assert isinstance(job, Delivery)
        if status in (200, 204):
            assert job.state is DeliveryState.SUCCEEDED
        elif send.attempt.number == 4:
            assert job.state is DeliveryState.FAILED
        else:
            wait = self.now + WAITS[send.attempt.number - 1]
            assert self.box.state.agenda.next_due == min(filter(None, (due_before, wait)))
        self.note_ends()

    def learn_jobs(self) -> None:
        for job in self.box.state.deliveries:
            self.jobs.setdefault(job.id, job)

    def note_ends(self) -> None:
        fresh = [job for job in self.jobs.values() if job.n > len(self.ended)]
        for job in sorted(fresh, key=lambda job: job.n):
            assert job.n == len(self.ended) + 1
            self.ended.append(job.id)

    @invariant()
    def no_event_is_lost_or_made_up(self) -> None:
        assert len(self.jobs) == self.expected
        assert not self.box.violations()

    @invariant()
    def the_log_is_the_latest_that_ended_and_all_under_way(self) -> None:
        log = self.box.state.deliveries
        assert [job.id for job in log.ended()] == self.ended[::-1][:KEPT]
        under_way = {id_ for id_, job in self.jobs.items() if job.state is DeliveryState.UNDER_WAY}
        assert {job.id for job in log} == under_way | set(self.ended[-KEPT:])

    @invariant()
    def attempts_are_in_order_and_at_most_four(self) -> None:
        for job in self.jobs.values():
            assert [attempt.number for attempt in job.attempts] == list(range(1, len(job.attempts) + 1))
            assert len(job.attempts) <= 4
            assert (job.completed is None) == (job.state is DeliveryState.UNDER_WAY)


TestWebhooks = Webhooks.TestCase
TestWebhooks.settings = settings(max_examples=examples(50), stateful_step_count=50)
