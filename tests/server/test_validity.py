"""From when until when a certificate is valid, read from the certificate itself."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from simulator.server.tls import BadCertificate, Validity, validity_of
from tests.support.certificates import dated

OLD = ("20200101000000Z", "20210203040506Z")
FAR = ("20400101000000Z", "20600203040506Z")  # beyond 2049 the form of a time differs


@pytest.mark.slow
def test_the_times_match_the_times_that_openssl_was_given() -> None:
    old, far = (validity_of(dated(*times).certificate) for times in (OLD, FAR))
    assert old == Validity(datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC))
    assert far == Validity(datetime(2040, 1, 1, tzinfo=UTC), datetime(2060, 2, 3, 4, 5, 6, tzinfo=UTC))
    assert old.problem(old.begins) == old.problem(datetime(2021, 2, 3, 4, 5, 5, tzinfo=UTC)) == ""
    assert old.problem(old.ends) == "the certificate expired on 2021-02-03 at 04:05:06 UTC"
    assert far.problem(old.ends) == "the certificate is not valid before 2040-01-01 at 00:00:00 UTC"


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    (file := tmp_path / "cert.pem").write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
    with pytest.raises(BadCertificate, match=r"cert\.pem: cannot be read as PEM"):
        validity_of(file)
