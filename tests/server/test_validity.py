"""From when until when a certificate is valid, read from the certificate itself."""

import ssl
from datetime import UTC, datetime

import pytest

from simulator.server.validity import Validity, validities
from tests.support.certificates import Pair, dated, pair

OLD = ("20200101000000Z", "20210203040506Z")
FAR = ("20400101000000Z", "20600203040506Z")  # beyond 2049 the form of a time is another one


def content(pair_: Pair) -> bytes:
    return pair_.certificate.read_bytes()


@pytest.mark.slow
def test_the_times_are_those_that_openssl_was_told() -> None:
    (old,), (far,) = (validities(content(dated(*times))) for times in (OLD, FAR))
    assert old == Validity(datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC))
    assert far == Validity(datetime(2040, 1, 1, tzinfo=UTC), datetime(2060, 2, 3, 4, 5, 6, tzinfo=UTC))
    assert old.problem(old.begins) == old.problem(datetime(2021, 2, 3, 4, 5, 5, tzinfo=UTC)) == ""
    assert old.problem(old.ends) == "the certificate expired on 2021-02-03 at 04:05:06 UTC"
    assert far.problem(old.ends) == "the certificate is not valid before 2040-01-01 at 00:00:00 UTC"


@pytest.mark.slow
def test_of_several_certificates_in_a_file_it_is_said_which_it_is() -> None:
    found = validities(b"what openssl prints before\n" + content(pair("first")) + content(dated(*OLD)))
    now = found[0].begins
    assert [one.place for one in found] == ["1 of 2", "2 of 2"]
    assert [one.problem(now) for one in found] == ["", "certificate 2 of 2 expired on 2021-02-03 at 04:05:06 UTC"]


@pytest.mark.slow
def test_whatever_is_cut_off_or_changed_in_a_certificate_is_left_out_and_is_no_mistake_of_ours() -> None:
    der = ssl.PEM_cert_to_DER_cert(content(pair("first")).decode())
    for place in range(min(len(der), 200)):
        for spoilt in (der[:place], der[:place] + bytes([der[place] ^ 0xFF]) + der[place + 1 :]):
            assert len(validities(ssl.DER_cert_to_PEM_cert(spoilt).encode())) <= 1
    assert validities(b"-----BEGIN CERTIFICATE-----\n\xff\n-----END CERTIFICATE-----") == ()
    assert validities(b"") == ()
