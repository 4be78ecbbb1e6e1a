"""The service's days of records in order of time."""

from datetime import date, datetime

from simulator.domain.model.history import Days

TIMES = ("2026-11-01T00:00:00", "2026-11-01T23:59:59.999999", "2026-11-02T00:00:00", "2026-11-05T12:00:00")


def test_records_of_a_day_of_the_service_share_an_index() -> None:
    days = Days()
    indexes = [days.add(datetime.fromisoformat(f"{at}+08:00"), place) for place, at in enumerate(TIMES)]
    assert indexes == [days.index_of(place) for place in range(4)] == [0, 0, 1, 2]
    first, second, fourth, fifth, sixth = (date(2026, 11, day) for day in (1, 2, 4, 5, 6))
    for begin, end, places in (
        (first, first, range(2)),
        (first, second, range(3)),
        (second, fourth, range(2, 3)),
        (fourth, fifth, range(3, 4)),
        (sixth, sixth, range(4, 4)),
    ):
        assert days.places(days.between(begin, end), 4) == places
