"""Whom https is believed: the authorities of the system or SSL_CERT_FILE, and those in the file of RESELLER_SIM_CA."""

import os
import ssl
from functools import lru_cache
from http.client import HTTPSConnection
from typing import Any

VARIABLE = "RESELLER_SIM_CA"


class Https(HTTPSConnection):
    """A connection to a server whose certificate an authority has signed that is believed. `connect` raises
    `ConnectionError` that says what to do for another one, and where the file of RESELLER_SIM_CA is none.

    With `certificate` it is the server whose certificate is in this file, whatever it is called there."""

    def __init__(self, host: str, port: int | None, timeout: float, certificate: str = "") -> None:
        super().__init__(host, port, timeout=timeout, context=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self._certificate = certificate

    def connect(self) -> None:
        """Connect, and look at the certificate."""
        file = self._certificate
        self._context: Any = _of_one(file) if file else _context(os.environ.get(VARIABLE, ""))
        try:
            super().connect()
        except ssl.SSLCertVerificationError as error:
            text = f"its certificate is not believed: {error.verify_message}"
            hint = f"; name the file of its authority, or of itself, in {VARIABLE}"
            raise ConnectionError(text + ("" if file else hint)) from None


@lru_cache(maxsize=4)
def _context(file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if file:
        _believe(context, file, f"{VARIABLE}={file}")
    return context


def _of_one(file: str) -> ssl.SSLContext:
    """Made anew for each connection: a server reads its certificate again."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the certificate itself is enough, without its authority
    _believe(context, file, file)
    return context


def _believe(context: ssl.SSLContext, file: str, named: str) -> None:
    try:
        context.load_verify_locations(file)
    except (OSError, ValueError) as error:
        why = "no certificate in PEM is in it" if isinstance(error, ssl.SSLError) else getattr(error, "strerror", "")
        raise ConnectionError(f"{named} cannot be used: {why or 'it is no file name'}") from None
