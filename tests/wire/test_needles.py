"""The needle at a place of a text is found among many that begin alike, as it would be by trying each."""

from hypothesis import given
from hypothesis import strategies as st

from simulator.wire.needles import CUT_BYTES_MIN, Needles

TAILS = st.lists(st.text(st.sampled_from("ab1-"), max_size=8), min_size=1, max_size=12, unique=True)


@given(tails=TAILS, then=st.text(st.sampled_from("ab1-"), max_size=10))
def test_the_longest_of_those_that_begin_alike_is_found(tails: list[str], then: str) -> None:
    needles = Needles()
    all_of_them = [f"-password-{tail}".encode() for tail in tails]
    for one in all_of_them:
        needles.add(one)
    text = f"x-password-{then}".encode()
    found = needles.at(text, 1)
    whole = [one for one in all_of_them if text.startswith(one, 1)]
    cut = [one for one in all_of_them if text.startswith(one[:CUT_BYTES_MIN], 1)]
    if whole:
        assert found == (max(whole, key=len), 1 + len(max(whole, key=len)))
    else:
        assert (found is None) == (not cut)
        assert found is None or found.end >= 1 + CUT_BYTES_MIN


def test_twenty_thousand_that_begin_alike_are_told_apart_without_trying_each() -> None:
    needles = Needles()
    for number in range(20_000):
        assert needles.add(b"password-%06d!" % number)
    assert not needles.add(b"password-000000!")
    for number in range(0, 20_000, 50):
        text = b"a password-%06d! b" % number
        assert needles.at(text, 2) == (text[2:18], 18)
    assert needles.at(b"password-00777", 0) is not None, "a cut one"
    assert needles.at(b"another-000000!", 0) is None
