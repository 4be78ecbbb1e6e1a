"""The text format of Prometheus, read back by its own client."""

from prometheus_client.parser import text_string_to_metric_families

from simulator.control.metrics import COUNTER, GAUGE, HISTOGRAM, Definition, exposition


def test_metrics_are_read_as_they_were_written_in_the_order_of_their_labels() -> None:
    hostile = 'a "quoted" \\ and\na new line'
    definitions = {
        "paid_total": Definition(COUNTER, ("by",), "The sum\npaid \\ so far."),
        "temperature": Definition(GAUGE, (), "Degrees."),
        "nothing_total": Definition(COUNTER, (), "None yet."),
        "unknown": Definition(GAUGE, (), "Without a value."),
    }
    text = exposition({"paid_total": {("b",): 2, (hostile,): 1}, "temperature": -0.5, "nothing_total": {}}, definitions)
    paid, temperature, nothing = text_string_to_metric_families(text)
    assert paid.documentation == "The sum\npaid \\ so far."
    assert [(one.labels["by"], one.value) for one in paid.samples] == [(hostile, 1), ("b", 2)]
    assert [(one.name, one.labels, one.value) for one in temperature.samples] == [("temperature", {}, -0.5)]
    assert (nothing.name, nothing.type, nothing.samples) == ("nothing", "counter", [])


def test_buckets_of_a_histogram_are_cumulative() -> None:
    metric = Definition(HISTOGRAM, ("of",), "How long.")
    text = exposition({"took_seconds": {("x",): [2, 0, 3, 40.5]}}, {"took_seconds": metric}, (0.0001, 2.5))
    (family,) = text_string_to_metric_families(text)
    found = {(one.name.removeprefix("took_seconds"), one.labels.get("le")): one.value for one in family.samples}
    assert found == {
        ("_bucket", "0.0001"): 2,
        ("_bucket", "2.5"): 2,
        ("_bucket", "+Inf"): 5,
        ("_sum", None): 40.5,
        ("_count", None): 5,
    }
