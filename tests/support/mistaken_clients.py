"""Clients that sign as people do, each with a mistake. They are written as clients are, and know nothing of ours."""

import hashlib
import hmac
import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import formatdate
from functools import partial
from typing import Any
from urllib.parse import quote, quote_plus, unquote

KEY, SECRET = "mine-key", b64encode(b"0123\xfb\xff\xbf789abcdef0123456789ab\xc3\xa9ef").decode()
OTHER_KEY, OTHER_SECRET = "their-key", b64encode(b"another reseller's secret.......").decode()
OLD_SECRET = b64encode(b"the secret that was replaced ...").decode()
NOW = 1_795_250_017
NONCE = "7C9E6679-7425-40de-944b-e07fc1f90ae7"
OTHER_NONCE = "00000000-7425-40de-944b-e07fc1f90ae7"


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str = "POST"
    path: str = "/v2/topup"
    query: str = "note=b%2Fc&account=1"
    body: bytes = b'{"refid":"r/1","amount":10.5,"product":"RELOAD"}'


POST = Request(query="")
GET = Request("GET", "/v2/catalog", "product_code=A%20B&is_active=true", b"")
BARE = Request("GET", "/v2/balance", "", b"")
FRENCH = Request(body='{"refid":"r/1","amount":10,"note":"\u00e9t\u00e9"}'.encode())
NUMBERED = Request(query="n=4")  # whose signature in capitals is no Base64, for its last bits
NUMBER = '{"n":"\u00e9","a":10}'.encode()


def sha256(body: bytes) -> str:
    return b64encode(hashlib.sha256(body).digest()).decode()


@dataclass(frozen=True)
class Signer:
    """The steps of signing, each of which can be replaced. The right ones do what the documentation says."""

    timestamp: Callable[[], str] = lambda: str(NOW)
    nonce: Callable[[], str] = lambda: NONCE
    method: Callable[[str], str] = lambda method: method
    query: Callable[[Request], str] = lambda request: "&".join(
        sorted((part for part in request.query.split("&") if "=" in part), key=lambda part: part.split("=")[0])
    )
    hashed: Callable[[bytes], str] = sha256
    join: Callable[..., str | bytes] = lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:{q}:{h}"
    key: Callable[[], bytes] = lambda: b64decode(SECRET)
    mac: Callable[[bytes, bytes], bytes] = lambda key, text: hmac.new(key, text, hashlib.sha256).digest()
    encode: Callable[[bytes], str] = lambda digest: b64encode(digest).decode()
    prefix: Callable[[str], str] = lambda text: "v1=" + text

    def sign(self, request: Request) -> str:
        """The value of X-Signature."""
        text = self.join(
            self.timestamp(),
            self.nonce(),
            self.method(request.method),
            self.query(request),
            self.hashed(request.body),
        )
        raw = text if isinstance(text, bytes) else text.encode()
        return self.prefix(self.encode(self.mac(self.key(), raw)))


@dataclass(frozen=True)
class Mistaken:
    """A client with one mistake: its id in the table, the steps that it does otherwise, what it sends. `in_header`:
    X-Sim-Diagnosis names it."""

    id: str
    steps: dict[str, Any] = field(default_factory=dict)
    request: Request = Request()
    in_header: bool = False

    def sign(self) -> str:
        """The value of X-Signature."""
        return replace(Signer(), **self.steps).sign(self.request)


def told(id_: str, request: Request = Request(), /, **steps: Any) -> Mistaken:
    """One that the header names, too."""
    return Mistaken(id_, steps, request, in_header=True)


def shy(id_: str, request: Request = Request(), /, **steps: Any) -> Mistaken:
    """One that only the journal and `explain` name."""
    return Mistaken(id_, steps, request)


def _iso() -> str:
    return datetime.fromtimestamp(NOW, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _padded(text: str) -> str:
    """Base64 that has lost characters, as lenient decoders complete it."""
    kept = text.rstrip("=")
    kept = kept[:-1] if len(kept) % 4 == 1 else kept
    return kept + "=" * (-len(kept) % 4)


def _alphanumeric(raw: bytes) -> str:
    return "".join(chr(each) for each in raw if chr(each).isascii() and chr(each).isalnum())


def as_sent(request: Request) -> str:
    return request.query


def body_as(change: Callable[[Any], str]) -> Callable[[bytes], str]:
    return lambda body: sha256(change(json.loads(body)).encode())


def joined(separator: str) -> Callable[..., str]:
    return lambda *parts: separator.join(("v1", *parts))


CLIENTS: tuple[Mistaken, ...] = (
    told("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000)),
    shy("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000 + 417)),
    shy("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000 - 311)),
    shy("timestamp-with-fraction", timestamp=lambda: str(float(NOW))),
    shy("timestamp-as-date", timestamp=lambda: "2026-11-21T08:33:37Z"),
    shy("timestamp-missing", timestamp=lambda: ""),
    shy("timestamp-another", timestamp=lambda: str(NOW + 1)),
    shy("timestamp-another", timestamp=lambda: str(NOW - 47)),
    shy("timestamp-another", timestamp=lambda: str(NOW + 8 * 3600)),
    told("nonce-in-lower-case", nonce=lambda: NONCE.lower()),
    shy("nonce-in-upper-case", nonce=lambda: NONCE.upper()),
    told("nonce-without-dashes", nonce=lambda: NONCE.replace("-", "")),
    shy("nonce-encoded", nonce=lambda: b64encode(NONCE.encode()).decode()),
    shy("nonce-encoded", nonce=lambda: NONCE.encode().hex()),
    shy("nonce-quoted", nonce=lambda: json.dumps(NONCE)),
    shy("nonce-missing", nonce=lambda: ""),
    shy("nonce-another", nonce=lambda: OTHER_NONCE),
    told("method-in-lower-case", method=str.lower),
    shy("method-capitalised", method=str.title),
    told("method-another", method=lambda _: "GET"),
    told("method-another", BARE, method=lambda _: "POST"),
    shy("method-another", BARE, method=lambda _: "put"),
    shy("method-missing", method=lambda _: ""),
    told("query-not-sorted", query=as_sent),
    told("query-as-sent", Request(query="b=2&flag&a=1"), query=as_sent),
    told("query-left-out", query=lambda _: ""),
    told("query-is-path", query=lambda request: request.path),
    told("query-is-path", query=lambda request: "/s/mine" + request.path),
    told("query-with-path", query=lambda request: f"{request.path}?{request.query}"),
    told("query-with-path", query=lambda request: f"/s/mine{request.path}?{request.query}"),
    told("query-with-path", query=lambda request: f"/s/mine{request.path}?{Signer().query(request)}"),
    told("query-with-path", query=lambda request: f"{request.path}?{Signer().query(request)}"),
    shy("query-is-url", query=lambda request: f"http://sim.test{request.path}?{request.query}"),
    told("query-with-question-mark", Request(query="a=1&b=2"), query=lambda request: "?" + request.query),
    told("query-with-question-mark", query=lambda request: "?" + Signer().query(request)),
    told("parameter-without-equals", Request(query="b=2&flag"), query=lambda _: "b=2&flag="),
    told("parameter-without-equals", Request(query="flag&b=2"), query=lambda _: "b=2&flag"),
    told("query-ignoring-case", Request(query="B=2&a=1&C=3"), query=lambda _: "a=1&B=2&C=3"),
    shy("query-sorted-by-value", Request(query="b=1&a=3&c=2"), query=lambda _: "b=1&c=2&a=3"),
    shy("query-sorted-descending", Request(query="b=1&a=3&c=2"), query=lambda _: "c=2&b=1&a=3"),
    told("query-decoded", query=lambda request: unquote(Signer().query(request))),
    told("query-encoded-otherwise", Request(query="at=a%2fb"), query=lambda _: "at=" + quote("a/b", safe="")),
    told("query-encoded-otherwise", GET, query=lambda _: "is_active=true&product_code=" + quote_plus("A B")),
    told("query-encoded-twice", query=lambda request: quote(Signer().query(request), safe="=&")),
    shy(
        "query-in-lower-case", Request(query="Note=b&account=1"), query=lambda request: Signer().query(request).lower()
    ),
    shy("query-without-separators", query=lambda _: "account=1note=b%2Fc"),
    shy("query-without-separators", query=lambda _: "account1noteb%2Fc"),
    shy("query-as-json", Request(query="b=2&a=x"), query=lambda _: json.dumps({"a": "x", "b": "2"})),
    shy("repeated-key-once", Request(query="s=1&s=2&a=1"), query=lambda _: "a=1&s=2"),
    shy("repeated-key-once", Request(query="s=1&s=2&a=1"), query=lambda _: "a=1&s=1"),
    told("empty-value-without-equals", Request(query="b=&a=1"), query=lambda _: "a=1&b"),
    told("query-encoded-otherwise", query=lambda request: Signer().query(request).replace("%2F", "%2f")),
    told("query-encoded-otherwise", Request(query="A=b%2Fc&B=D"), query=lambda _: "A=b%2fc&B=D"),
    shy("query-encoded-otherwise", Request(query="a=~b"), query=lambda _: "a=%7Eb"),
    shy("query-encoded-otherwise", Request(query="a=b%3Ac%20d%2Ce"), query=lambda _: "a=b:c%20d%2Ce"),
    shy("query-encoded-otherwise", Request(query="a=b%3Ac%20d%2Ce"), query=lambda _: "a=b:c%20d,e"),
    *(
        shy("query-is-literal", request, query=lambda _, text=text: text)
        for text in ("undefined", "null", "None", "{}", "[object Object]")
        for request in (Request(), BARE)
    ),
    told("body-hash-hexadecimal", hashed=lambda body: hashlib.sha256(body).hexdigest()),
    shy("body-hash-hexadecimal", hashed=lambda body: hashlib.sha256(body).hexdigest().upper()),
    told("body-hash-base64-of-hex", hashed=lambda body: b64encode(hashlib.sha256(body).hexdigest().encode()).decode()),
    shy("body-hash-url-safe", hashed=lambda body: urlsafe_b64encode(hashlib.sha256(body).digest()).decode()),
    shy("body-hash-without-padding", hashed=lambda body: sha256(body).rstrip("=")),
    told("body-hash-missing", hashed=lambda _: ""),
    told("body-hash-missing", BARE, hashed=lambda _: ""),
    told("body-not-hashed", hashed=bytes.decode),
    shy("body-only-encoded", hashed=lambda body: b64encode(body).decode()),
    told("body-hash-of-nothing", hashed=lambda _: sha256(b"")),
    told("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"{}")),
    told("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"null")),
    shy("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"[]")),
    shy("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"undefined")),
    shy("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"false")),
    shy("body-hash-encoded-twice", hashed=lambda body: b64encode(sha256(body).encode()).decode()),
    shy("body-hashed-twice", hashed=lambda body: sha256(hashlib.sha256(body).digest())),
    shy("body-hashed-twice", hashed=lambda body: sha256(hashlib.sha256(body).hexdigest().encode())),
    shy("body-hash-other-algorithm", hashed=lambda body: b64encode(hashlib.sha1(body).digest()).decode()),  # noqa: S324
    shy("body-hash-other-algorithm", hashed=lambda body: hashlib.md5(body).hexdigest()),  # noqa: S324
    shy("body-hash-keyed", hashed=lambda body: hmac.new(b64decode(SECRET), body, "sha256").hexdigest()),
    told("body-serialised-again", hashed=body_as(json.dumps)),
    told("body-serialised-again", hashed=body_as(lambda value: json.dumps(value, indent=2))),
    told("body-serialised-again", hashed=body_as(lambda value: json.dumps(value, indent=4))),
    shy("body-serialised-again", hashed=body_as(str)),
    told("body-serialised-again", hashed=body_as(lambda v: json.dumps(v, separators=(",", ":")).replace("/", "\\/"))),
    *(
        make("body-serialised-again", FRENCH, hashed=body_as(partial(json.dumps, ensure_ascii=is_ascii, indent=indent)))
        for is_ascii in (True, False)
        for indent, make in ((2, told), (4, told), ("\t", shy), (1, shy), (3, shy))
    ),
    *(
        shy("body-serialised-again", FRENCH, hashed=body_as(partial(json.dumps, ensure_ascii=is_ascii, separators=one)))
        for is_ascii in (True, False)
        for one in ((", ", ":"), (",", ": "))
    ),
    shy("body-serialised-again", FRENCH, hashed=body_as(lambda v: json.dumps(v, indent=4).replace("/", "\\/"))),
    shy("body-serialised-again", FRENCH, hashed=body_as(lambda v: json.dumps(v).replace("e9", "E9"))),
    shy("body-sorted", FRENCH, hashed=body_as(partial(json.dumps, sort_keys=True, indent=2, ensure_ascii=False))),
    *(
        make("body-numbers-rewritten", Request(body=NUMBER), hashed=lambda _, text=text: sha256(text.encode()))
        for make, text in (
            (told, '{"n":"\u00e9","a":"10"}'),
            (told, '{"n":"\u00e9","a":10.0}'),
            (shy, '{"n":"\u00e9","a":10.00}'),
        )
    ),
    shy("body-object-printed", hashed=lambda _: sha256(b"[object Object]")),
    told("body-line-end", Request(body=b'{"a":1}\r\n'), hashed=lambda body: sha256(body[:-2])),
    shy("body-sorted", hashed=body_as(lambda value: json.dumps(value, sort_keys=True))),
    told("body-numbers-rewritten", Request(body=b'{"a":{"b":10}}'), hashed=lambda _: sha256(b'{"a":{"b":10.0}}')),
    told("body-numbers-rewritten", Request(body=b'{"amount":10.0}'), hashed=lambda _: sha256(b'{"amount":10}')),
    shy("body-encoded-twice", hashed=lambda body: sha256(json.dumps(body.decode()).encode())),
    shy("body-as-form", Request(body=b'{"a":"x y","b":2}'), hashed=lambda _: sha256(b"a=x+y&b=2")),
    told("body-line-end", hashed=lambda body: sha256(body + b"\n")),
    told("body-line-end", Request(body=b'{"a":1}\n'), hashed=lambda body: sha256(body[:-1])),
    shy("body-line-ends", Request(body=b'{\r\n"a":1}'), hashed=lambda body: sha256(body.replace(b"\r\n", b"\n"))),
    shy(
        "body-other-charset", Request(body='{"a":"é"}'.encode()), hashed=lambda b: sha256(b.decode().encode("latin-1"))
    ),
    shy("body-other-charset", hashed=lambda body: sha256(body.decode().encode("utf-16-le"))),
    shy("body-byte-order-mark", hashed=lambda body: sha256(body.decode().encode("utf-8-sig"))),
    told("version-missing", join=lambda *parts: ":".join(parts)),
    shy("version-otherwise", join=lambda *parts: ":".join(("V1", *parts))),
    told("line-feeds", join=joined("\n")),
    shy("no-separators", join=joined("")),
    told("other-separators", join=joined(".")),
    told("other-separators", join=joined("|")),
    shy("other-separators", join=joined(";")),
    shy("other-separators", join=joined(", ")),
    shy("version-otherwise", join=lambda *parts: ":".join(("v2", *parts))),
    told("string-ends-in-line-feed", join=lambda *parts: joined(":")(*parts) + "\n"),
    shy("string-ends-otherwise", join=lambda *parts: joined(":")(*parts) + ":"),
    told("nonce-before-timestamp", join=lambda t, n, m, q, h: f"v1:{n}:{t}:{m}:{q}:{h}"),
    shy("other-order", join=lambda t, n, m, q, h: f"v1:{m}:{t}:{n}:{q}:{h}"),
    shy("other-order", join=lambda t, n, m, q, h: f"v1:{h}:{m}:{q}:{t}:{n}"),
    told("query-left-out-with-colon", BARE, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:{h}"),
    told("body-hash-left-out", GET, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:{q}"),
    told("body-hash-left-out", BARE, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}"),
    shy("nonce-left-out", join=lambda t, n, m, q, h: f"v1:{t}:{m}:{q}:{h}"),
    shy("timestamp-left-out", join=lambda t, n, m, q, h: f"v1:{n}:{m}:{q}:{h}"),
    shy("method-left-out", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{q}:{h}"),
    shy("key-in-string", join=lambda *parts: ":".join(("v1", KEY, *parts))),
    told("path-in-string", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:/v2/topup:{q}:{h}"),
    shy("path-in-string", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:/s/mine/v2/topup:{q}:{h}"),
    shy("string-in-lower-case", join=lambda *parts: joined(":")(*parts).lower()),
    shy("string-in-capitals", join=lambda *parts: joined(":")(*parts).upper()),
    shy("string-hashed-first", join=lambda *parts: hashlib.sha256(joined(":")(*parts).encode()).hexdigest()),
    shy("string-encoded-first", join=lambda *parts: b64encode(joined(":")(*parts).encode())),
    shy("string-in-utf-16", join=lambda *parts: joined(":")(*parts).encode("utf-16-le")),
    shy("only-body-signed", join=lambda *_: Request().body),
    shy("timestamp-another", timestamp=lambda: str(NOW - 2)),
    shy("timestamp-as-date", timestamp=lambda: _iso() + ".482Z"),
    shy("timestamp-as-date", timestamp=lambda: formatdate(NOW, usegmt=True)),
    told("secret-not-decoded", key=SECRET.encode),
    shy("secret-url-safe", key=lambda: SECRET.replace("+", "-").replace("/", "_").encode()),
    shy("secret-url-safe", key=lambda: b64decode(_padded(SECRET.replace("+", "").replace("/", "")))),
    told("secret-with-blanks", key=lambda: (SECRET + "\n").encode()),
    shy("secret-with-blanks", key=lambda: (" " + SECRET).encode()),
    shy("secret-in-quotes", key=lambda: f'"{SECRET}"'.encode()),
    shy("secret-without-padding", key=lambda: SECRET.rstrip("=").encode()),
    shy("secret-decoded-twice", key=lambda: b64decode(_padded(_alphanumeric(b64decode(SECRET))))),
    told("secret-hexadecimal", key=lambda: b64decode(SECRET).hex().encode()),
    told("secret-as-characters", key=lambda: b64decode(SECRET).decode("utf-8", "replace").encode()),
    shy("secret-as-characters", key=lambda: b64decode(SECRET).decode("latin-1").encode("utf-8")),
    shy("secret-hashed", key=lambda: hashlib.sha256(SECRET.encode()).digest()),
    shy("secret-lower-case", key=lambda: SECRET.lower().encode()),
    shy("secret-with-key", key=lambda: f"{KEY}:{SECRET}".encode()),
    shy("secret-is-api-key", key=KEY.encode),
    shy("secret-is-empty", key=lambda: b""),
    shy("secret-of-another", key=lambda: b64decode(OTHER_SECRET)),
    shy("secret-of-another", key=OTHER_SECRET.encode),
    shy("secret-replaced", key=lambda: b64decode(OLD_SECRET)),
    told("sha-1", mac=lambda key, text: hmac.new(key, text, "sha1").digest()),
    told("sha-512", mac=lambda key, text: hmac.new(key, text, "sha512").digest()),
    told("sha-384", mac=lambda key, text: hmac.new(key, text, "sha384").digest()),
    told("md5", mac=lambda key, text: hmac.new(key, text, "md5").digest()),
    shy("sha3-256", mac=lambda key, text: hmac.new(key, text, "sha3_256").digest()),
    told("key-and-string-swapped", mac=lambda key, text: hmac.new(text, key, "sha256").digest()),
    told("hash-without-hmac", mac=lambda key, text: hashlib.sha256(key + text).digest()),
    told("hash-without-hmac", mac=lambda key, text: hashlib.sha256(text + key).digest()),
    shy("hash-without-secret", mac=lambda _, text: hashlib.sha256(text).digest()),
    told("signature-hexadecimal", encode=bytes.hex),
    told("signature-hexadecimal", encode=lambda digest: digest.hex().upper()),
    told("signature-base64-of-hex", encode=lambda digest: b64encode(digest.hex().encode()).decode()),
    shy("signature-url-safe", encode=lambda digest: urlsafe_b64encode(digest).decode()),
    shy("signature-without-padding", encode=lambda digest: b64encode(digest).decode().rstrip("=")),
    shy("signature-with-blanks", encode=lambda digest: " " + b64encode(digest).decode()),
    shy("signature-in-quotes", encode=lambda digest: json.dumps(b64encode(digest).decode())),
    shy("signature-as-python-bytes", encode=lambda digest: str(b64encode(digest))),
    shy("signature-percent-encoded", encode=lambda digest: quote(b64encode(digest).decode(), safe="")),
    shy("signature-encoded-twice", encode=lambda digest: b64encode(b64encode(digest)).decode()),
    told("signature-cut", encode=lambda digest: b64encode(digest[:16]).decode()),
    told("signature-cut", encode=lambda digest: b64encode(digest[:31]).decode()),
    told("signature-cut", encode=lambda digest: b64encode(digest).decode()[:32]),
    shy("signature-cut", encode=lambda digest: b64encode(digest).decode()[:41]),
    told("signature-too-long", encode=lambda digest: b64encode(digest + b"\0").decode()),
    shy("signature-too-long", encode=lambda digest: b64encode(digest).decode() + "AAAA"),
    told("signature-twice", encode=lambda digest: b64encode(digest * 2).decode()),
    shy("signature-twice", encode=lambda digest: b64encode(digest).decode() * 2),
    shy("signature-twice", prefix=lambda text: f"v1={text}, v1={text}"),
    told("signature-case-changed", encode=lambda digest: b64encode(digest).decode().lower()),
    shy("signature-case-changed", NUMBERED, encode=lambda digest: b64encode(digest).decode().upper()),
    shy("signature-v1-twice", prefix=lambda text: "v1=v1=" + text),
    shy("signature-without-v1", prefix=lambda text: text),
    shy("signature-other-prefix", prefix=lambda text: "sha256=" + text),
    shy("signature-other-prefix", prefix=lambda text: "V1=" + text),
)
