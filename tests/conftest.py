"""What holds for the whole suite: how Hypothesis chooses its examples."""

from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair: no deadlines. Every run has the same examples, so that a failure is
# one of the change under test, and nothing is remembered in the checkout; `--hypothesis-profile random` draws others.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("random", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.register_profile("fast", settings.get_profile("reproducible"), max_examples=20)  # of `make test-fast`
settings.load_profile("reproducible")
