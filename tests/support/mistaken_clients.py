"""Clients that sign as people do, each with a mistake. They are written as clients are, and know nothing of ours."""

import gzip
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
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote

KEY, SECRET = "mine-key", b64encode(b"0123\xfb\xff\xbf789abcdef0123456789ab\xc3\xa9ef").decode()
OTHER_KEY, OTHER_SECRET = "their-key", b64encode(b"another reseller's secret.......").decode()
OLD_SECRET = b64encode(b"the secret that was replaced ...").decode()
NOW = 1_795_250_017
NONCE = "7C9E6679-7425-40de-944b-e07fc1f90ae7"
OTHER_NONCE = "00000000-7425-40de-944b-e07fc1f90ae7"


@dataclass(frozen=True)
class Request:
    """The request to sign."""

    method: str = "POST"
    path: str = "/v2/topup"
    query: str = "note=b%2Fc&account=1"
    body: bytes = b'{"refid":"r/1","amount":10.5,"product":"RELOAD"}'


POST = Request(query="")
GET = Request("GET", "/v2/catalog", "product_code=A%20B&is_active=true", b"")
BARE = Request("GET", "/v2/balance", "", b"")
FRENCH = Request(body='{"refid":"r/1","amount":10,"note":"\u00e9t\u00e9"}'.encode())
NUMBERED = Request(query="n=4")  # whose signature in capitals is no Base64, for its last bits
PLAIN = b'{"refid":"r/1","amount":10,"product":"RELOAD"}'
ACCENTED = '{"refid":"r/1","remarks":"Kedai Caf\u00e9"}'
NUMBER = '{"n":"\u00e9","a":10}'.encode()


def sha256(body: bytes) -> str:
    return b64encode(hashlib.sha256(body).digest()).decode()


@dataclass(frozen=True)
class Signer:
    """The steps of signing, each replaceable. The default steps follow the documentation."""

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
    """A client with a single mistake: its id in the table, the steps that differ, and its request."""

    id: str
    steps: dict[str, Any] = field(default_factory=dict)
    request: Request = Request()

    def sign(self) -> str:
        """The value of X-Signature."""
        return replace(Signer(), **self.steps).sign(self.request)


def mistaken(id_: str, request: Request = Request(), /, **steps: Any) -> Mistaken:
    """A client with one mistake."""
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
    mistaken("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000)),
    mistaken("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000 + 417)),
    mistaken("timestamp-in-milliseconds", timestamp=lambda: str(NOW * 1000 - 311)),
    mistaken("timestamp-with-fraction", timestamp=lambda: str(float(NOW))),
    *(
        mistaken("timestamp-with-fraction", timestamp=lambda end=end: f"{NOW}.{end}")
        for end in ("417", "5", "050", "25")
    ),
    *(
        mistaken("timestamp-in-other-units", timestamp=lambda end=end: str(NOW) + end)
        for end in ("000000", "000000000")
    ),
    mistaken("timestamp-as-date", timestamp=lambda: "2026-11-21T08:33:37Z"),
    mistaken("timestamp-missing", timestamp=lambda: ""),
    mistaken("timestamp-another", timestamp=lambda: str(NOW + 1)),
    mistaken("timestamp-another", timestamp=lambda: str(NOW - 47)),
    mistaken("timestamp-of-zone", timestamp=lambda: str(NOW + 8 * 3600)),
    mistaken("timestamp-of-zone", timestamp=lambda: str(NOW - 19_800)),
    mistaken("timestamp-as-date", timestamp=lambda: "2026-11-21T16:33:37+08:00"),
    mistaken("nonce-in-lower-case", nonce=lambda: NONCE.lower()),
    mistaken("nonce-in-upper-case", nonce=lambda: NONCE.upper()),
    mistaken("nonce-without-dashes", nonce=lambda: NONCE.replace("-", "")),
    mistaken("nonce-encoded", nonce=lambda: b64encode(NONCE.encode()).decode()),
    mistaken("nonce-encoded", nonce=lambda: NONCE.encode().hex()),
    *(
        mistaken("nonce-quoted", nonce=lambda form=form: form % NONCE)
        for form in ('"%s"', "{%s}", "b'%s'", "UUID('%s')")
    ),
    mistaken("nonce-missing", nonce=lambda: ""),
    mistaken("nonce-another", nonce=lambda: OTHER_NONCE),
    mistaken("method-in-lower-case", method=str.lower),
    mistaken("method-capitalised", method=str.title),
    mistaken("method-another", method=lambda _: "GET"),
    mistaken("method-another", BARE, method=lambda _: "POST"),
    mistaken("method-another", BARE, method=lambda _: "put"),
    mistaken("method-missing", method=lambda _: ""),
    mistaken("query-not-sorted", query=as_sent),
    mistaken("query-as-sent", Request(query="b=2&flag&a=1"), query=as_sent),
    mistaken("query-left-out", query=lambda _: ""),
    mistaken("query-is-path", query=lambda request: request.path),
    mistaken("query-is-path", query=lambda request: "/s/mine" + request.path),
    mistaken("query-with-path", query=lambda request: f"{request.path}?{request.query}"),
    mistaken("query-with-path", query=lambda request: f"/s/mine{request.path}?{request.query}"),
    mistaken("query-with-path", query=lambda request: f"/s/mine{request.path}?{Signer().query(request)}"),
    mistaken("query-with-path", query=lambda request: f"{request.path}?{Signer().query(request)}"),
    mistaken("query-is-url", query=lambda request: f"http://sim.test{request.path}?{request.query}"),
    mistaken("query-is-url", BARE, query=lambda request: f"sim.test{request.path}"),
    mistaken("query-with-question-mark", Request(query="a=1&b=2"), query=lambda request: "?" + request.query),
    mistaken("query-with-question-mark", query=lambda request: "?" + Signer().query(request)),
    mistaken("parameter-without-equals", Request(query="b=2&flag"), query=lambda _: "b=2&flag="),
    mistaken("parameter-without-equals", Request(query="flag&b=2"), query=lambda _: "b=2&flag"),
    mistaken("query-ignoring-case", Request(query="B=2&a=1&C=3"), query=lambda _: "a=1&B=2&C=3"),
    mistaken("query-sorted-by-value", Request(query="b=1&a=3&c=2"), query=lambda _: "b=1&c=2&a=3"),
    mistaken("query-sorted-descending", Request(query="b=1&a=3&c=2"), query=lambda _: "c=2&b=1&a=3"),
    mistaken("query-decoded", query=lambda request: unquote(Signer().query(request))),
    mistaken("query-encoded-otherwise", Request(query="at=a%2fb"), query=lambda _: "at=" + quote("a/b", safe="")),
    mistaken("query-encoded-otherwise", GET, query=lambda _: "is_active=true&product_code=" + quote_plus("A B")),
    mistaken("query-encoded-twice", query=lambda request: quote(Signer().query(request), safe="=&")),
    mistaken(
        "query-in-lower-case", Request(query="Note=b&account=1"), query=lambda request: Signer().query(request).lower()
    ),
    mistaken("query-without-separators", query=lambda _: "account=1note=b%2Fc"),
    mistaken("query-without-separators", query=lambda _: "account1noteb%2Fc"),
    mistaken("query-as-json", Request(query="b=2&a=x"), query=lambda _: json.dumps({"a": "x", "b": "2"})),
    mistaken("repeated-key-once", Request(query="s=1&s=2&a=1"), query=lambda _: "a=1&s=2"),
    mistaken("repeated-key-once", Request(query="s=1&s=2&a=1"), query=lambda _: "a=1&s=1"),
    mistaken("empty-value-without-equals", Request(query="b=&a=1"), query=lambda _: "a=1&b"),
    mistaken("query-encoded-otherwise", query=lambda request: Signer().query(request).replace("%2F", "%2f")),
    mistaken("query-encoded-otherwise", Request(query="A=b%2Fc&B=D"), query=lambda _: "A=b%2fc&B=D"),
    mistaken("query-encoded-otherwise", Request(query="a=~b"), query=lambda _: "a=%7Eb"),
    mistaken("query-encoded-otherwise", Request(query="a=b%3Ac%20d%2Ce"), query=lambda _: "a=b:c%20d%2Ce"),
    mistaken("query-encoded-otherwise", Request(query="a=b%3Ac%20d%2Ce"), query=lambda _: "a=b:c%20d,e"),
    *(
        mistaken("query-is-literal", request, query=lambda _, text=text: text)
        for text in ("undefined", "null", "None", "{}", "[object Object]")
        for request in (Request(), BARE)
    ),
    mistaken("body-hash-hexadecimal", hashed=lambda body: hashlib.sha256(body).hexdigest()),
    mistaken("body-hash-hexadecimal", hashed=lambda body: hashlib.sha256(body).hexdigest().upper()),
    mistaken(
        "body-hash-base64-of-hex", hashed=lambda body: b64encode(hashlib.sha256(body).hexdigest().encode()).decode()
    ),
    mistaken("body-hash-url-safe", hashed=lambda body: urlsafe_b64encode(hashlib.sha256(body).digest()).decode()),
    mistaken("body-hash-without-padding", hashed=lambda body: sha256(body).rstrip("=")),
    mistaken("body-hash-missing", hashed=lambda _: ""),
    mistaken("body-hash-missing", BARE, hashed=lambda _: ""),
    mistaken("body-not-hashed", hashed=bytes.decode),
    mistaken("body-only-encoded", hashed=lambda body: b64encode(body).decode()),
    mistaken("body-hash-of-nothing", hashed=lambda _: sha256(b"")),
    mistaken("body-hash-of-nothing", POST, hashed=lambda _: sha256(b"")),
    mistaken("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"{}")),
    mistaken("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"null")),
    mistaken("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"[]")),
    mistaken("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"undefined")),
    mistaken("body-hash-not-empty", BARE, hashed=lambda _: sha256(b"false")),
    mistaken("body-hash-encoded-twice", hashed=lambda body: b64encode(sha256(body).encode()).decode()),
    mistaken("body-hashed-twice", hashed=lambda body: sha256(hashlib.sha256(body).digest())),
    mistaken("body-hashed-twice", hashed=lambda body: sha256(hashlib.sha256(body).hexdigest().encode())),
    mistaken("body-hash-decorated", hashed=lambda body: "sha256=" + sha256(body)),
    mistaken("body-hash-decorated", hashed=lambda body: str(sha256(body).encode())),
    mistaken("body-hash-decorated", hashed=lambda body: quote(sha256(body), safe="")),
    mistaken("body-hash-decorated", hashed=lambda body: hashlib.sha256(body).digest().hex("-").upper()),
    *(
        mistaken("body-hash-of-nothing", hashed=lambda _, text=text: sha256(text))
        for text in (b"null", b"{}", b"undefined")
    ),
    mistaken("body-hash-other-algorithm", hashed=lambda body: b64encode(hashlib.sha1(body).digest()).decode()),  # noqa: S324
    mistaken("body-hash-other-algorithm", hashed=lambda body: hashlib.md5(body).hexdigest()),  # noqa: S324
    mistaken("body-hash-keyed", hashed=lambda body: hmac.new(b64decode(SECRET), body, "sha256").hexdigest()),
    mistaken("body-serialised-again", hashed=body_as(json.dumps)),
    mistaken("body-serialised-again", hashed=body_as(lambda value: json.dumps(value, indent=2))),
    mistaken("body-serialised-again", hashed=body_as(lambda value: json.dumps(value, indent=4))),
    mistaken("body-object-printed", hashed=body_as(str)),
    mistaken(
        "body-serialised-again", hashed=body_as(lambda v: json.dumps(v, separators=(",", ":")).replace("/", "\\/"))
    ),
    *(
        mistaken(
            "body-serialised-again", FRENCH, hashed=body_as(partial(json.dumps, ensure_ascii=is_ascii, indent=indent))
        )
        for is_ascii in (True, False)
        for indent in (2, 4, "\t", 1, 3)
    ),
    *(
        mistaken(
            "body-serialised-again", FRENCH, hashed=body_as(partial(json.dumps, ensure_ascii=is_ascii, separators=one))
        )
        for is_ascii in (True, False)
        for one in ((", ", ":"), (",", ": "))
    ),
    mistaken("body-serialised-again", FRENCH, hashed=body_as(lambda v: json.dumps(v, indent=4).replace("/", "\\/"))),
    mistaken("body-serialised-again", FRENCH, hashed=body_as(lambda v: json.dumps(v).replace("e9", "E9"))),
    mistaken("body-sorted", FRENCH, hashed=body_as(partial(json.dumps, sort_keys=True, indent=2, ensure_ascii=False))),
    *(
        mistaken("body-numbers-rewritten", Request(body=NUMBER), hashed=lambda _, text=text: sha256(text.encode()))
        for text in ('{"n":"\u00e9","a":"10"}', '{"n":"\u00e9","a":10.0}', '{"n":"\u00e9","a":10.00}')
    ),
    mistaken("body-object-printed", hashed=lambda _: sha256(b"[object Object]")),
    mistaken("body-line-end", Request(body=b'{"a":1}\r\n'), hashed=lambda body: sha256(body[:-2])),
    mistaken("body-sorted", hashed=body_as(lambda value: json.dumps(value, sort_keys=True))),
    *(
        mistaken("body-numbers-rewritten", Request(body=sent), hashed=lambda _, text=text: sha256(text))
        for sent, text in (
            (b'{"remarks":" Kedai "}', b'{"remarks":"Kedai"}'),
            (b'{"amount":10.1}', b'{"amount":"10.10"}'),
        )
    ),
    mistaken("body-numbers-rewritten", Request(body=b'{"amount":10.0}'), hashed=lambda _: sha256(b'{"amount":10}')),
    mistaken("body-encoded-twice", hashed=lambda body: sha256(json.dumps(body.decode()).encode())),
    mistaken("body-as-form", Request(body=b'{"a":"x y","b":2}'), hashed=lambda _: sha256(b"a=x+y&b=2")),
    mistaken("body-line-end", hashed=lambda body: sha256(body + b"\n")),
    mistaken("body-line-end", Request(body=b'{"a":1}\n'), hashed=lambda body: sha256(body[:-1])),
    mistaken("body-line-ends", Request(body=b'{\r\n"a":1}'), hashed=lambda body: sha256(body.replace(b"\r\n", b"\n"))),
    mistaken(
        "body-other-charset", Request(body='{"a":"é"}'.encode()), hashed=lambda b: sha256(b.decode().encode("latin-1"))
    ),
    mistaken("body-other-charset", hashed=lambda body: sha256(body.decode().encode("utf-16-le"))),
    mistaken("body-byte-order-mark", hashed=lambda body: sha256(body.decode().encode("utf-8-sig"))),
    mistaken("version-missing", join=lambda *parts: ":".join(parts)),
    mistaken("version-otherwise", join=lambda *parts: ":".join(("V1", *parts))),
    mistaken("line-feeds", join=joined("\n")),
    mistaken("no-separators", join=joined("")),
    mistaken("other-separators", join=joined(".")),
    mistaken("other-separators", join=joined("|")),
    mistaken("other-separators", join=joined(";")),
    mistaken("other-separators", join=joined(", ")),
    mistaken("version-otherwise", join=lambda *parts: ":".join(("v2", *parts))),
    mistaken("string-ends-in-line-feed", join=lambda *parts: joined(":")(*parts) + "\n"),
    mistaken("string-ends-otherwise", join=lambda *parts: joined(":")(*parts) + ":"),
    mistaken("nonce-before-timestamp", join=lambda t, n, m, q, h: f"v1:{n}:{t}:{m}:{q}:{h}"),
    mistaken("other-order", join=lambda t, n, m, q, h: f"v1:{m}:{t}:{n}:{q}:{h}"),
    mistaken("other-order", join=lambda t, n, m, q, h: f"v1:{h}:{m}:{q}:{t}:{n}"),
    mistaken("query-left-out-with-colon", BARE, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:{h}"),
    mistaken("body-hash-left-out", GET, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:{q}"),
    mistaken("body-hash-left-out", BARE, join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}"),
    mistaken("nonce-left-out", join=lambda t, n, m, q, h: f"v1:{t}:{m}:{q}:{h}"),
    mistaken("timestamp-left-out", join=lambda t, n, m, q, h: f"v1:{n}:{m}:{q}:{h}"),
    mistaken("method-left-out", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{q}:{h}"),
    mistaken("key-in-string", join=lambda *parts: ":".join((KEY, *parts))),
    mistaken("string-of-other-service", join=lambda t, *_: t.encode() + b"." + Request().body),
    mistaken("string-of-other-service", join=lambda t, n, *_: f"{n}.{t}.".encode() + Request().body),
    mistaken("key-in-string", join=lambda *parts: ":".join(("v1", KEY, *parts))),
    mistaken("path-in-string", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:/v2/topup:{q}:{h}"),
    mistaken("path-in-string", join=lambda t, n, m, q, h: f"v1:{t}:{n}:{m}:/s/mine/v2/topup:{q}:{h}"),
    *(
        mistaken("parts-printed", join=lambda *parts, write=write: write(["v1", *parts]))
        for write in (str, json.dumps, partial(json.dumps, separators=(",", ":")), lambda v: f"[{', '.join(v)}]")
    ),
    *(
        mistaken("content-type-in-string", join=lambda t, n, m, q, h, kind=kind: f"v1:{t}:{n}:{m}:{q}:{kind}:{h}")
        for kind in ("application/json", "application/json; charset=utf-8")
    ),
    mistaken("content-type-in-string", join=lambda *parts: joined(":")(*parts) + ":application/json"),
    mistaken("string-in-lower-case", join=lambda *parts: joined(":")(*parts).lower()),
    mistaken("string-in-capitals", join=lambda *parts: joined(":")(*parts).upper()),
    mistaken("string-hashed-first", join=lambda *parts: hashlib.sha256(joined(":")(*parts).encode()).hexdigest()),
    mistaken("string-encoded-first", join=lambda *parts: b64encode(joined(":")(*parts).encode())),
    mistaken("string-in-utf-16", join=lambda *parts: joined(":")(*parts).encode("utf-16-le")),
    mistaken("only-body-signed", join=lambda *_: Request().body),
    mistaken("timestamp-another", timestamp=lambda: str(NOW - 2)),
    mistaken("timestamp-as-date", timestamp=lambda: _iso() + ".482Z"),
    mistaken("timestamp-as-date", timestamp=lambda: formatdate(NOW, usegmt=True)),
    mistaken("secret-not-decoded", key=SECRET.encode),
    mistaken("secret-url-safe", key=lambda: SECRET.replace("+", "-").replace("/", "_").encode()),
    mistaken("secret-url-safe", key=lambda: b64decode(_padded(SECRET.replace("+", "").replace("/", "")))),
    mistaken("secret-with-blanks", key=lambda: (SECRET + "\n").encode()),
    mistaken("secret-with-blanks", key=lambda: (" " + SECRET).encode()),
    mistaken("secret-with-prefix", key=lambda: f"whsec_{SECRET}".encode()),
    mistaken("secret-with-prefix", key=lambda: quote(SECRET, safe="").encode()),
    mistaken("secret-after-byte-order-mark", key=lambda: SECRET.encode("utf-8-sig")),
    mistaken("secret-encoded-again", key=lambda: b64encode(SECRET.encode())),
    mistaken("secret-is-literal", key=lambda: b"undefined"),
    mistaken("secret-in-quotes", key=lambda: f'"{SECRET}"'.encode()),
    mistaken("secret-without-padding", key=lambda: SECRET.rstrip("=").encode()),
    mistaken("secret-decoded-twice", key=lambda: b64decode(_padded(_alphanumeric(b64decode(SECRET))))),
    mistaken("secret-hexadecimal", key=lambda: b64decode(SECRET).hex().encode()),
    mistaken("secret-as-characters", key=lambda: b64decode(SECRET).decode("utf-8", "replace").encode()),
    mistaken("secret-as-characters", key=lambda: b64decode(SECRET).decode("latin-1").encode("utf-8")),
    mistaken("secret-hashed", key=lambda: hashlib.sha256(SECRET.encode()).digest()),
    mistaken("secret-lower-case", key=lambda: SECRET.lower().encode()),
    mistaken("secret-with-key", key=lambda: f"{KEY}:{SECRET}".encode()),
    mistaken("secret-is-api-key", key=KEY.encode),
    mistaken("secret-is-empty", key=lambda: b""),
    mistaken("secret-of-another", key=lambda: b64decode(OTHER_SECRET)),
    mistaken("secret-of-another", key=OTHER_SECRET.encode),
    mistaken("secret-replaced", key=lambda: b64decode(OLD_SECRET)),
    mistaken("sha-1", mac=lambda key, text: hmac.new(key, text, "sha1").digest()),
    mistaken("sha-512", mac=lambda key, text: hmac.new(key, text, "sha512").digest()),
    mistaken("sha-384", mac=lambda key, text: hmac.new(key, text, "sha384").digest()),
    mistaken("md5", mac=lambda key, text: hmac.new(key, text, "md5").digest()),
    mistaken("sha3-256", mac=lambda key, text: hmac.new(key, text, "sha3_256").digest()),
    mistaken("key-and-string-swapped", mac=lambda key, text: hmac.new(text, key, "sha256").digest()),
    mistaken("hash-without-hmac", mac=lambda key, text: hashlib.sha256(key + text).digest()),
    mistaken("hash-without-hmac", mac=lambda key, text: hashlib.sha256(text + key).digest()),
    mistaken("hash-without-secret", mac=lambda _, text: hashlib.sha256(text).digest()),
    mistaken("signature-hexadecimal", encode=bytes.hex),
    mistaken("signature-hexadecimal", encode=lambda digest: digest.hex().upper()),
    mistaken("signature-base64-of-hex", encode=lambda digest: b64encode(digest.hex().encode()).decode()),
    mistaken("signature-url-safe", encode=lambda digest: urlsafe_b64encode(digest).decode()),
    mistaken("signature-without-padding", encode=lambda digest: b64encode(digest).decode().rstrip("=")),
    mistaken("signature-with-blanks", encode=lambda digest: " " + b64encode(digest).decode()),
    mistaken("signature-in-quotes", encode=lambda digest: json.dumps(b64encode(digest).decode())),
    mistaken("signature-as-python-bytes", encode=lambda digest: str(b64encode(digest))),
    mistaken("signature-percent-encoded", encode=lambda digest: quote(b64encode(digest).decode(), safe="")),
    mistaken("signature-encoded-twice", encode=lambda digest: b64encode(b64encode(digest)).decode()),
    mistaken("signature-encoded-twice", encode=lambda digest: b64encode(b"v1=" + b64encode(digest)).decode()),
    mistaken("signature-cut", encode=lambda digest: b64encode(digest[:16]).decode()),
    mistaken("signature-cut", encode=lambda digest: b64encode(digest[:31]).decode()),
    mistaken("signature-cut", encode=lambda digest: b64encode(digest).decode()[:32]),
    mistaken("signature-cut", encode=lambda digest: b64encode(digest).decode()[:41]),
    mistaken("signature-too-long", encode=lambda digest: b64encode(digest + b"\0").decode()),
    mistaken("signature-too-long", encode=lambda digest: b64encode(digest).decode() + "AAAA"),
    mistaken("signature-twice", encode=lambda digest: b64encode(digest * 2).decode()),
    mistaken("signature-twice", encode=lambda digest: b64encode(digest).decode() * 2),
    mistaken("signature-twice", prefix=lambda text: f"v1={text}, v1={text}"),
    mistaken("signature-case-changed", encode=lambda digest: b64encode(digest).decode().lower()),
    mistaken("signature-case-changed", NUMBERED, encode=lambda digest: b64encode(digest).decode().upper()),
    mistaken("signature-v1-twice", prefix=lambda text: "v1=v1=" + text),
    mistaken("signature-without-v1", prefix=lambda text: text),
    mistaken("signature-other-prefix", prefix=lambda text: "sha256=" + text),
    mistaken("signature-other-prefix", prefix=lambda text: "V1=" + text),
    *(
        mistaken(name, request, hashed=lambda _, text=text: sha256(text))
        for name, request, text in (
            ("body-form-sent", Request(body=b"refid=r%2F1&amount=10&product=RELOAD"), PLAIN),
            ("body-compressed", Request(body=gzip.compress(PLAIN, mtime=0)), PLAIN),
            ("body-sent-in-other-charset", Request(body=ACCENTED.encode("latin-1")), ACCENTED.encode()),
            ("body-letters-lost", Request(body=ACCENTED.encode("ascii", "replace")), ACCENTED.encode()),
            ("body-normalized", Request(body=ACCENTED.encode()), normalize("NFD", ACCENTED).encode()),
            ("body-absent-members", Request(body=PLAIN[:-1] + b',"remarks":null}'), PLAIN),
            ("body-member-not-sent", Request(body=PLAIN), PLAIN[:-1] + b',"remarks":null}'),
            ("body-member-not-sent", Request(body=PLAIN), b'{"refid":"r/1","account":null' + PLAIN[14:]),
            ("body-member-added", Request(body=PLAIN[:-1] + b',"version":7}'), PLAIN),
            ("body-reordered", Request(body=PLAIN), b'{"product":"RELOAD","refid":"r/1","amount":10}'),
            ("body-in-base64", Request(body=b64encode(PLAIN)), PLAIN),
            ("body-in-base64", Request(body=PLAIN), b64encode(PLAIN)),
            ("body-percent-encoded", Request(body=PLAIN), quote(PLAIN, safe="").encode()),
            ("body-percent-encoded", Request(body=PLAIN), quote_plus(PLAIN).encode()),
            ("body-escaped-for-html", Request(body=b'{"remarks":"<b>"}'), b'{"remarks":"&lt;b&gt;"}'),
            ("body-wrapped", Request(body=PLAIN), b"[" + PLAIN + b"]"),
            ("body-members-renamed", Request(body=b'{"ref_id":"1","b":2}'), b'{"refId":"1","b":2}'),
            ("body-members-renamed", Request(body=b'{"refid":"1","b":2}'), b'{"Refid":"1","B":2}'),
        )
    ),
    *(
        mistaken(
            "parameters-elsewhere", request, query=lambda _, text=text: text, hashed=lambda _, body=body: sha256(body)
        )
        for request, text, body in (
            (
                Request("POST", "/v2/callback-url", "", b'{"url":"http://h/a","method":"POST"}'),
                "method=POST&url=http%3A%2F%2Fh%2Fa",
                b"",
            ),
            (
                Request("POST", "/v2/callback-url", "", b"url=http%3A%2F%2Fh%2Fa&method=POST"),
                "method=POST&url=http%3A%2F%2Fh%2Fa",
                b"",
            ),
            (Request("GET", "/v2/catalog", "b=2&a=1", b""), "a=1&b=2", b"b=2&a=1"),
            (Request("GET", "/v2/catalog", "b=2&a=1", b""), "", b"b=2&a=1"),
        )
    ),
    *(
        mistaken(name, Request("GET", "/v2/transactions", sent, b""), query=lambda _, text=text: text)
        for name, sent, text in (
            ("query-list-otherwise", "limit=5&status%5B%5D=A&status%5B%5D=B", "limit=5&status=A&status=B"),
            ("query-value-otherwise", "include_inactive=True", "include_inactive=true"),
            ("query-other-charset", "account=Caf%C3%A9", "account=Caf%E9"),
            ("parameter-added", "limit=5&_=1795000000", "limit=5"),
            ("parameter-not-sent", "limit=5", "account=None&limit=5"),
            ("parameter-absent-sent", "limit=5&account=undefined", "limit=5"),
            ("query-value-cut", "url=http://h/?a=1", "url=http://h/?a"),
            ("query-escaped-for-html", "date=1&limit=5", "date=1&amp;limit=5"),
            ("query-as-json", "b=2&a=x", "{b=2, a=x}"),
            ("query-as-json", "b=2&a=x", "[('b', '2'), ('a', 'x')]"),
            ("query-as-json", "b=2&a=x", "{'b': ['2'], 'a': ['x']}"),
        )
    ),
)
