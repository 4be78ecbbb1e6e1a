"""Replies of an inbox: in order, by time, and repeated."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.inbox_programs import InboxProgram, InboxReply, TimedReply, Window

START = datetime(2027, 1, 10, 4, 0, tzinfo=UTC)
REPLIES = st.lists(st.integers(200, 599).map(InboxReply), max_size=5).map(tuple)
SPANS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(REPLIES, st.integers(0, 50))
def test_replies_that_repeat_have_a_period_and_others_stay_at_the_last(
    replies: tuple[InboxReply, ...], place: int
) -> None:
    once, over = InboxProgram(replies), InboxProgram(replies, repeat=True)
    for number, reply in enumerate(replies):
        assert once.reply(number) == over.reply(number) == reply
    if replies:
        assert over.reply(place + len(replies)) == over.reply(place)
        assert once.reply(place + len(replies)) == replies[-1]
    else:
        assert once.reply(place) == over.reply(place) == InboxReply()


def test_an_inbox_without_replies_answers_200_at_once() -> None:
    reply = InboxProgram().reply(0)
    assert (reply.status, reply.delay, reply.body, reply.disconnect) == (200, timedelta(0), "", False)


def test_an_inbox_is_empty_without_replies_of_either_kind() -> None:
    timed = TimedReply(Window(), InboxReply(500))
    assert InboxProgram().is_empty
    assert not any(program.is_empty for program in (InboxProgram((InboxReply(500),)), InboxProgram(during=(timed,))))


@given(st.lists(SPANS, max_size=4), st.integers(0, 60))
def test_the_first_window_that_lasts_answers(spans: list[tuple[int, int]], minute: int) -> None:
    during = tuple(
        TimedReply(Window(since=timedelta(minutes=low), until=timedelta(minutes=high)), InboxReply(200 + place))
        for place, (low, high) in enumerate(spans)
    )
    found = InboxProgram(during=during).timed(START + timedelta(minutes=minute), START)
    lasting = [place for place, (low, high) in enumerate(spans) if low <= minute < high]
    assert found == (InboxReply(200 + lasting[0]) if lasting else None)
