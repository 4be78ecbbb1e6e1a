"""Whom https is believed: the authorities of the system or SSL_CERT_FILE, and those in the file of RESELLER_SIM_CA."""

import os
import ssl
from functools import lru_cache
from http.client import HTTPSConnection
from typing import Any

VARIABLE = "RESELLER_SIM_CA"


class Https(HTTPSConnection):
    """A connection to a server whose certificate an authority has signed that is believed. `connect` raises
    `ConnectionError` that says what to do for another one, and where the file of RESELLER_SIM_CA is none."""

    def __init__(self, host: str, port: int | None, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout, context=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def connect(self) -> None:
        """Connect, and look at the certificate."""
        self._context: Any = _context(os.environ.get(VARIABLE, ""))
        try:
            super().connect()
        except ssl.SSLCertVerificationError as error:
            text = f"its certificate is not believed: {error.verify_message}"
            hint = f"; name the file of its authority, or of itself, in {VARIABLE}"
            raise ConnectionError(text + hint) from None


@lru_cache(maxsize=4)
def _context(file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if file:
        try:
            context.load_verify_locations(file)
        except (OSError, ValueError) as error:
            why = (
                "no certificate in PEM is in it" if isinstance(error, ssl.SSLError) else getattr(error, "strerror", "")
            )
            raise ConnectionError(f"{VARIABLE}={file} cannot be used: {why or 'it is no file name'}") from None
    return context
