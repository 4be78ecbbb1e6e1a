"""The files of a certificate and its key: why a pair cannot be used, and when a certificate expires."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from simulator.cli.certificates import context_of, expiry_of
from simulator.cli.usage import CannotStart
from simulator.whole_files import FILE_BYTES_MAX
from tests.support.certificates import Pair, dated, openssl, pair

OLD = ("20200101000000Z", "20210203040506Z")
FAR = ("20400101000000Z", "20600203040506Z")  # beyond 2049 the form of a time differs


@pytest.mark.slow
def test_the_expiry_is_the_time_that_openssl_was_given() -> None:
    assert expiry_of(dated(*OLD).certificate) == datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert expiry_of(dated(*FAR).certificate) == datetime(2060, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    (file := tmp_path / "cert.pem").write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
    with pytest.raises(CannotStart, match=r"cert\.pem: cannot be read as PEM"):
        expiry_of(file)


def _no_pem(pair_: Pair) -> None:
    pair_.certificate.write_bytes(b"not PEM")


def _broken(pair_: Pair) -> None:
    lines = pair_.certificate.read_bytes().split(b"\n")
    pair_.certificate.write_bytes(b"\n".join([lines[0], b"AAAA", *lines[-2:]]))


def _no_key(pair_: Pair) -> None:
    pair_.key.write_bytes(pair_.certificate.read_bytes())


def _other_key(pair_: Pair) -> None:
    pair_.key.write_bytes(pair("second").key.read_bytes())


def _passphrase(pair_: Pair) -> None:
    openssl("ec", "-aes128", "-passout", "pass:x", "-in", str(pair("first").key), "-out", str(pair_.key))


def _huge(pair_: Pair) -> None:
    pair_.key.write_bytes(b" " * (FILE_BYTES_MAX + 1))


def _pipe(pair_: Pair) -> None:
    pair_.key.unlink()
    os.mkfifo(pair_.key)


def _folder(pair_: Pair) -> None:
    pair_.certificate.unlink()
    pair_.certificate.mkdir()


def _dangling(pair_: Pair) -> None:
    pair_.certificate.unlink()
    pair_.certificate.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_no_pem, "cert.pem: has no line -----BEGIN CERTIFICATE-----"),
        (_broken, "they cannot be used"),
        (_no_key, "key.pem: has no line -----BEGIN PRIVATE KEY-----"),
        (_other_key, "the key does not belong to the certificate"),
        (_passphrase, "key.pem: has a passphrase"),
        (_huge, "key.pem: has more than 1048576 bytes"),
        (_pipe, "key.pem: is not a regular file"),
        (_folder, "cert.pem: is not a regular file"),
        (_dangling, "cert.pem: cannot be read: No such file or directory"),
    ],
)
def test_a_pair_that_cannot_be_used_says_why(tmp_path: Path, spoil: Callable[[Pair], None], why: str) -> None:
    copied = pair("first").into(tmp_path)
    spoil(copied)
    with pytest.raises(CannotStart) as caught:
        context_of(*copied)
    assert why in str(caught.value)


def test_links_to_files_are_followed_as_secrets_of_containers_are_mounted(tmp_path: Path) -> None:
    pair("first").into(tmp_path, "real-")
    (tmp_path / "cert.pem").symlink_to("real-cert.pem")
    (tmp_path / "key.pem").symlink_to(tmp_path / "real-key.pem")
    assert context_of(tmp_path / "cert.pem", tmp_path / "key.pem") is not None
