"""The service's days of records in order of time."""

from datetime import date, datetime

from simulator.domain.model.history import DatedRecords

TIMES = ("2026-11-01T00:00:00", "2026-11-01T23:59:59.999999", "2026-11-02T00:00:00", "2026-11-05T12:00:00")


def test_records_are_found_and_added_up_by_the_day_of_the_service() -> None:
    records: DatedRecords[str, str] = DatedRecords(lambda record: "kind")
    for place, at in enumerate(TIMES):
        records.append(at, datetime.fromisoformat(f"{at}+08:00"), "kind").add(place + 1)
    records.totals(datetime.fromisoformat("2026-11-01T23:00:00+08:00"))["other"].add(7)
    first, second, fourth, fifth, sixth = (date(2026, 11, day) for day in (1, 2, 4, 5, 6))
    for begin, end, places, counts in (
        (first, first, range(2), [3]),
        (first, second, range(3), [3, 3]),
        (second, fourth, range(2, 3), [3]),
        (fourth, fifth, range(3, 4), [4]),
        (sixth, sixth, range(4, 4), []),
        (fifth, first, range(3, 3), []),
    ):
        found, totals = records.between(begin, end)
        assert (found, [of_day["kind"].count for of_day in totals]) == (places, counts)
    assert list(records.kinds()) == ["kind", "other", "kind", "kind"]
