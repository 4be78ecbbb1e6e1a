"""The text format of Prometheus, read back by its own client."""

from prometheus_client.parser import text_string_to_metric_families

from simulator.control.metrics import COUNTER, GAUGE, HISTOGRAM, Metric, exposition


def test_metrics_are_read_as_they_were_written_in_the_order_of_their_labels() -> None:
    hostile = 'a "quoted" \\ and\na new line'
    text = exposition(
        [
            Metric("paid_total", COUNTER, "The sum\npaid \\ so far.", {(("by", "b"),): 2, (("by", hostile),): 1}),
            Metric("temperature", GAUGE, "Degrees.", {(): -0.5}),
            Metric("nothing_total", COUNTER, "None yet.", {}),
        ],
        (),
    )
    paid, temperature, nothing = text_string_to_metric_families(text)
    assert paid.documentation == "The sum\npaid \\ so far."
    assert [(one.labels["by"], one.value) for one in paid.samples] == [(hostile, 1), ("b", 2)]
    assert [(one.name, one.labels, one.value) for one in temperature.samples] == [("temperature", {}, -0.5)]
    assert (nothing.name, nothing.type, nothing.samples) == ("nothing", "counter", [])


def test_buckets_of_a_histogram_are_cumulative() -> None:
    metric = Metric("took_seconds", HISTOGRAM, "How long.", {(("of", "x"),): [2, 0, 3, 40.5]})
    (family,) = text_string_to_metric_families(exposition([metric], (0.0001, 2.5)))
    found = {(one.name.removeprefix("took_seconds"), one.labels.get("le")): one.value for one in family.samples}
    assert found == {
        ("_bucket", "0.0001"): 2,
        ("_bucket", "2.5"): 2,
        ("_bucket", "+Inf"): 5,
        ("_sum", None): 40.5,
        ("_count", None): 5,
    }
