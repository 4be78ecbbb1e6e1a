"""The configuration of HAProxy, 2.6 or later, in front of several servers: each request reaches its owner.

`txn.owner` is hashed: the id of a sandbox or, in the sandbox `default`, the code of a reseller. The backend `shards`
hashes it over all servers. It has no health checks, so a server that is down moves no owner. While a server fails its
checks in `anywhere`, requests go through `guarded` instead. It hashes alike, but its servers are sections of this
configuration, which answer 503 at once for a server that is down. A request without an owner goes to any server that is
up.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from simulator.shards.ring import NAME_HEADER, NAMES_HEADER, WEIGHT, digest, number_of
from simulator.shards.servers import Server

CHECKED_PATH: Final = "/_sim/ready"
"""The path of the health check. It answers 503 while a server starts or stops, and on a server with another name. A
server without this path is up when it answers at all."""

LISTEN: Final = "127.0.0.1:8080"
SHARD_HEADER: Final = "X-Sim-Shard"
READ_TIMEOUT: Final = "20s"
"""How long a GET that any server can answer waits for a server, before HAProxy tries another server."""
BODY_BYTES: Final = 16 * 1024
"""The maximum of a body that is buffered to find its reseller: of a token request, or of a new reseller."""

_LISTEN = re.compile(r"(?:\*|[0-9.]{7,15}|\[[0-9A-Fa-f:.]{2,45}\]):([0-9]{1,5})")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")

_DOWN = {
    "error": "shard_down",
    "message": "the server that has this does not answer; nothing was changed, and it comes back with its server",
    "path": "",
}

_SILENT = {
    "error": "shard_silent",
    "message": "the server that has this did not answer in time; whether it changed anything is not known",
    "path": "",
}


class BadSetting(Exception):
    """A setting that cannot be written into the configuration; the text says which."""


def configuration(servers: Sequence[Server], listen: str = LISTEN, map_path: str = "") -> str:
    """Return the configuration for these servers, in the order of their names. `map_path` is a file of
    `resellers.lines`; it is empty where API keys alone identify resellers. Raises `BadSetting`."""
    found = _LISTEN.fullmatch(listen)
    if found is None or not 0 < int(found[1]) < 65536:
        raise BadSetting(f"{listen!r} is no address to listen on; use one such as {LISTEN} or *:8080")
    if map_path and not _PLAIN_PATH.fullmatch(map_path):
        raise BadSetting(f"{map_path!r}: the path of a map has letters, digits and . _ - / alone")
    lines = [*_HEAD, *_frontend(listen, map_path, len(servers)), *_backends(servers, listen)]
    return "\n".join(lines) + "\n"


_HEAD = f"""\
# Written by `reseller-sim shard-config`. Names, numbers and weights decide which server has what: write it anew
# instead of changing them.
global
    # A request's head may be as long as the servers accept it.
    tune.bufsize 81920

defaults
    mode http
    timeout connect 2s
    timeout client 10m
    timeout server 10m
    timeout http-request 65s
    timeout http-keep-alive 75s
    # A payment is not sent twice by anybody but its client.
    retries 0
    # An answer that a server did not give, as a fault of a scenario may ask for, is none here, too.
    errorfile 502 /dev/null
    http-error status 503 content-type application/json string '{json.dumps(_DOWN)}' hdr Retry-After 1
    http-error status 504 content-type application/json string '{json.dumps(_SILENT)}' hdr Retry-After 1
""".splitlines()


def _frontend(listen: str, map_path: str, count: int) -> list[str]:
    """Return the frontend. Later rules win: a credential over the address, a map over the credential."""
    by_map = (
        [
            "    # the reseller who has it, of the file that was written beside this one.",
            f"    http-request set-var(txn.owner) str(key/),concat(,txn.key),map_str({map_path}) if by_key",
            f"    http-request set-var(txn.owner) str(user/),concat(,txn.user),map_str({map_path}) if by_user",
        ]
        if map_path
        else []
    )
    return [
        *_FRONTEND.format(listen=listen, body_bytes=BODY_BYTES).splitlines(),
        *by_map,
        "",
        f"    use_backend guarded if owned {{ nbsrv(anywhere) lt {count} }}",
        "    use_backend shards if owned",
        "    default_backend anywhere",
    ]


_FRONTEND = """
frontend reseller_sim
    bind {listen}
    http-request set-header X-Forwarded-For %[src]
    http-request set-header X-Forwarded-Proto https if {{ ssl_fc }}
    http-request del-header X-Forwarded-Proto unless {{ ssl_fc }}
    http-request del-header X-Forwarded-Host
    http-request del-header X-Sim-Asked-By
    http-request del-header X-Sim-Shard
    http-request set-var(txn.path) path,url_dec

    # The id of a sandbox, in the address.
    acl in_sandbox var(txn.path) -m beg /s/
    http-request set-var(txn.owner) var(txn.path),field(3,/) if in_sandbox
    http-request set-var(txn.owner) var(txn.path),field(4,/) if {{ var(txn.path) -m beg /_sim/sandboxes/ /_sim/inbox/ }}

    # In the sandbox `default` each reseller has an owner of its own. The control API names resellers by their codes,
    acl of_default var(txn.path) -m beg /_sim/sandboxes/default/
    acl of_reseller var(txn.path) -m beg /_sim/sandboxes/default/resellers/
    http-request set-var(txn.owner) url_param(reseller),url_dec(1) if of_default
    http-request set-var(txn.owner) var(txn.path),field(6,/) if of_reseller
    acl new_reseller var(txn.path) -m str /_sim/sandboxes/default/resellers
    http-request wait-for-body time 10s at-least {body_bytes} if new_reseller METH_POST
    http-request set-var(txn.owner) req.body,json_query('$.code') if new_reseller METH_POST

    # the reseller API by a token, which has the code, or the id of a sandbox with unique credentials,
    acl in_default var(txn.path) -m beg /s/default/
    acl in_control var(txn.path) -m beg /_sim
    http-request set-var(txn.api) bool(true) if in_default or !in_sandbox !in_control
    acl by_reseller var(txn.api) -m bool
    acl for_token var(txn.path) -m end /v2/token /v2/token/refresh
    acl has_key req.fhdr(x-api-key) -m len gt 0
    http-request set-var(txn.token) http_auth_bearer if by_reseller !has_key !for_token
    http-request wait-for-body time 10s at-least {body_bytes} if by_reseller for_token
    http-request set-var(txn.token) req.body_param(refresh_token),url_dec(1) if by_reseller for_token
    http-request set-var(txn.token) req.body,json_query('$.refresh_token') if by_reseller for_token
    acl has_token var(txn.token) -m found
    acl of_audience var(txn.audience) -m len gt 0
    acl for_default var(txn.audience) -m str default
    http-request set-var(txn.audience) var(txn.token),jwt_payload_query('$.aud') if has_token
    http-request set-var(txn.owner) var(txn.audience) if of_audience
    http-request set-var(txn.owner) var(txn.token),jwt_payload_query('$.reseller') if for_default

    # by an API key, or by the name of a user who wants a token:
    http-request set-var(txn.key) req.fhdr(x-api-key) if by_reseller has_key !for_token
    http-request set-var(txn.user) req.body_param(username),url_dec(1) if by_reseller for_token
    http-request set-var(txn.user) req.body,json_query('$.username') if by_reseller for_token
    acl by_key var(txn.key) -m len gt 0
    acl by_user var(txn.user) -m len gt 0
    acl owned var(txn.owner) -m len gt 0
    http-request set-var(txn.owner) var(txn.key) if by_key
    http-request set-var(txn.owner) var(txn.user) if by_user
"""


def _backends(servers: Sequence[Server], listen: str) -> list[str]:
    names = digest(one.name for one in servers)
    lines = [*_ring("shards", [(one, one.netloc) for one in servers])]
    lines += _ring("guarded", [(one, _inner(one, listen)) for one in servers])
    lines += [
        "",
        "backend anywhere",
        "    balance roundrobin",
        "    # A connection that cannot be made has carried nothing: another server is tried.",
        "    retries 3",
        "    option redispatch 1",
        "    # One that is stopped but not dead takes connections. Whoever reads is answered by another one then; a",
        "    # list of all sandboxes takes 15 seconds at most, and a stream has no end.",
        f"    http-request set-timeout server {READ_TIMEOUT} if METH_GET !{{ var(txn.path) -m str /_sim/events }}",
        "    http-request disable-l7-retry unless METH_GET",
        "    retry-on conn-failure response-timeout",
        "    # A server says by this when it is another one than it is taken for here.",
        "    option httpchk",
        f"    http-check send meth GET uri {CHECKED_PATH} hdr {NAME_HEADER} %[srv_name] hdr {NAMES_HEADER} {names}",
        "    http-check expect ! rstatus ^5",
        "    # A server that is busy is not down: only what refuses a connection is found out within a second.",
        "    timeout check 10s",
        "    default-server check inter 1s fastinter 250ms fall 3 rise 1",
        f"    http-response set-header {SHARD_HEADER} %s",
        *(f"    server {one.name} {one.netloc}" for one in servers),
    ]
    for one in servers:
        lines += ["", f"listen of_{one.name}", f"    bind {_inner(one, listen)}"]
        lines += [f"    server {one.name} {one.netloc} track anywhere/{one.name}"]
    return lines


def _ring(name: str, servers: Iterable[tuple[Server, str]]) -> list[str]:
    """Return a backend that hashes the owner over all of these servers, whether they are up or not."""
    return [
        "",
        f"backend {name}",
        "    balance hash var(txn.owner)",
        "    hash-type consistent crc32 avalanche",
        f"    http-response set-header {SHARD_HEADER} %s",
        *(f"    server {one.name} {address} id {number_of(one.name)} weight {WEIGHT}" for one, address in servers),
    ]


def _inner(server: Server, listen: str) -> str:
    """Return the abstract socket on this machine at which HAProxy calls itself."""
    return f"abns@reseller-sim/{listen}/{server.name}"
