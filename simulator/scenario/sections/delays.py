"""Parser of a delay: a duration, or two points of a log-normal distribution."""

from datetime import timedelta

from simulator.domain.model.draw import Delay, Spread
from simulator.scenario.reading.reader import Reader


def delay(item: Reader) -> Delay:
    """Return a delay of 0 when it is absent. Impossible pairs are reported."""
    return (spread(item) or timedelta(0)) if item.is_mapping else item.duration()


def spread(item: Reader) -> Spread | None:
    """Return the distribution of `{median: 80ms, p99: 2s}`, None for an impossible one."""
    if not item["median"].is_given or not item["p99"].is_given:
        return None  # the schema has reported it
    median, p99 = item["median"].duration(), item["p99"].duration()
    if not median:
        text = "the median of a distribution is above 0; write 'delay: 0s' for no delay, or a median such as 1ms"
        item["median"].problem("out_of_range", text)
    elif p99 < median:
        text = (
            f"p99 {item['p99'].text()} is below the median {item['median'].text()}: 99 of 100 delays are at most p99, "
            "and only half of them are at most the median"
        )
        item["p99"].problem("out_of_range", text)
    else:
        return Spread(median, p99)
    return None
