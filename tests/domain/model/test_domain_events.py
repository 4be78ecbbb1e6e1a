"""The log of notifications."""

from simulator.domain.model.domain_events import EmailNotification, NotificationKind, NotificationLog
from tests.support.worlds import START


def test_the_latest_notifications_are_kept_and_the_others_counted() -> None:
    log = NotificationLog(2)
    emails = [
        EmailNotification(at=START, kind=NotificationKind.VOID, reseller="R1", to=("a",), subject=f"{number}", text="")
        for number in range(4)
    ]
    for one in emails[:3]:
        log.add(one)
    assert ([one.subject for one in log], [one.n for one in reversed(log)]) == (["1", "2"], [3, 2])
    assert (len(log), log.left_out) == (2, 1)
    other = NotificationLog(2)
    other.restore(log, log.left_out)
    added = other.add(emails[3])
    assert (added.n, other.left_out, [one.subject for one in other]) == (4, 2, ["2", "3"])
