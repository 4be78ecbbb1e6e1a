"""The name under which other tools import what signs a request: it is in `staging/signing`."""

from simulator.staging.signing import (
    SIGNING_HEADERS,
    CannotSign,
    Credentials,
    SignedRequest,
    sign,
    split_base,
    with_bearer,
)

__all__ = ["SIGNING_HEADERS", "CannotSign", "Credentials", "SignedRequest", "sign", "split_base", "with_bearer"]
