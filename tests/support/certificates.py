"""Certificates for tests, made by openssl: each is its own authority, and of 127.0.0.1 unless it says otherwise."""

import shutil
import ssl
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from tests.support.processes import DEADLINE_S
from tests.support.programs import program


class Pair(NamedTuple):
    """Files in PEM: a certificate, and its key, which only its owner can read."""

    certificate: Path
    key: Path

    def into(self, folder: Path, name: str = "") -> "Pair":
        """Copy the pair to `cert.pem` and `key.pem` of a folder, replacing existing files."""
        copied = Pair(folder / f"{name}cert.pem", folder / f"{name}key.pem")
        shutil.copy(self.certificate, copied.certificate)
        shutil.copy(self.key, copied.key)
        return copied

    @property
    def client(self) -> ssl.SSLContext:
        """A TLS context that trusts this certificate alone."""
        return ssl.create_default_context(cafile=str(self.certificate))


@cache
def pair(name: str, hosts: str = "DNS:localhost,IP:127.0.0.1") -> Pair:
    """Return a pair with this name. All tests of a process share it."""
    folder = Path(mkdtemp(prefix="certificates-"))
    made = Pair(folder / "cert.pem", folder / "key.pem")
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    words += ["-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}"]
    openssl(*words, "-keyout", str(made.key), "-out", str(made.certificate))
    made.key.chmod(0o600)
    return made


CA = """\
[ca]
default_ca = own
[own]
dir = {folder}
database = $dir/index
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = usual
[any]
commonName = supplied
[usual]
subjectAltName = DNS:localhost,IP:127.0.0.1
"""


@cache
def dated(begins: str, ends: str) -> Pair:
    """Return a pair that is valid between these times, such as 20200101000000Z. All tests of a process share it."""
    folder = Path(mkdtemp(prefix="certificates-"))
    made, wish, config = Pair(folder / "cert.pem", folder / "key.pem"), folder / "wish.pem", folder / "ca.cnf"
    config.write_text(CA.format(folder=folder))
    (folder / "index").touch()
    words = ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=dated"]
    openssl(*words, "-keyout", str(made.key), "-out", str(wish))
    words = ["ca", "-batch", "-notext", "-config", str(config), "-selfsign", "-keyfile", str(made.key)]
    openssl(*words, "-startdate", begins, "-enddate", ends, "-in", str(wish), "-out", str(made.certificate))
    made.key.chmod(0o600)
    return made


def openssl(*words: str) -> None:
    """Run openssl, which has to succeed."""
    done = subprocess.run([program("openssl"), *words], capture_output=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr.decode()


def name_of(peer: "ssl.SSLSocket | ssl.SSLObject") -> str:
    """Return the common name of the certificate that a server showed."""
    shown: Any = peer.getpeercert()
    return str(dict(pairs[0] for pairs in shown["subject"])["commonName"])
