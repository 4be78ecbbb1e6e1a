"""The server's options: frozen, from flags and environment."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

DEFAULT_PORT = 8080
LOOPBACK = "127.0.0.1"
CONTROL_PATH = "/_sim"
DOCUMENT_PATH = "/openapi.json"


class Options(NamedTuple):
    """The options of a server. `scenario` is a path or a bundled name. `mode`, `rate`, `start` and `seed` override the
    scenario's values.

    `control_token` None leaves the control API open, which is safe on a loopback address only. `url` is the address
    that clients see. `keeps_coverage` preserves the figures of former sandboxes. `scenarios` is the folder of the files
    that clients may use to start sandboxes. `callbacks_ca` has more authorities for receivers' certificates. `callback`
    is the URL for the callbacks of all the scenario's resellers. `trusted_forwarders` are addresses and networks whose
    forwarded headers are trusted; `root_path` is their prefix of our paths, such as `/sim`. `quotas` of each sandbox
    are payments, bytes and requests a second; `tapes_bytes_max` limits the tapes of all sandboxes, None for the
    default. `is_tls` when the server speaks TLS.
    """

    scenario: str = "default"
    url: str = f"http://{LOOPBACK}:{DEFAULT_PORT}"
    mode: str | None = None
    rate: float | None = None
    start: datetime | None = None
    seed: int | None = None
    control_token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    public_callbacks_only: bool = False
    callbacks_ca: Path | None = None
    trust_forwarded: bool = False
    sandbox_ttl_s: float | None = None
    keeps_coverage: bool = False
    scenarios: Path | None = None
    callback: str | None = None
    trusted_forwarders: tuple[str, ...] = ()
    root_path: str = ""
    quotas: tuple[int | None, int | None, float | None] = (None, None, None)
    tapes_bytes_max: int | None = None
    is_tls: bool = False
