"""The journal as HAR 1.2, which browsers and proxies open."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote

from simulator import __version__
from simulator.wire.json import encode

HAR_VERSION = "1.2"
SAFE_IN_PATH = "/:@!$&'()*+,;=~%"


def har(base_url: str, exchanges: Iterable[Mapping[str, Any]], comment: str = "") -> Iterator[bytes]:
    """The parts of the document, one for each exchange as the control API shows it. Times are the sandbox's."""
    head = {"version": HAR_VERSION, "creator": {"name": "reseller-sim", "version": __version__}, "pages": []}
    yield b'{"log":%b,"entries":[' % encode(head | ({"comment": comment} if comment else {}))[:-1]
    for number, one in enumerate(exchanges):
        yield (b",\n" if number else b"\n") + encode(_entry(base_url, one))
    yield b"\n]}}\n"


def _entry(base_url: str, one: Mapping[str, Any]) -> dict[str, Any]:
    took_ms = one["duration_us"] / 1000
    own = {f"_{name}": one[name] for name in ("n", "rule", "fault", "error", "diagnosis", "trxid") if one[name]}
    return {
        "startedDateTime": one["at"],
        "time": took_ms,
        "request": _request(base_url, one),
        "response": _response(one),
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        **own,
    }


def _request(base_url: str, one: Mapping[str, Any]) -> dict[str, Any]:
    message, query = one["request"], one["query"]
    url = base_url + quote(one["path"], safe=SAFE_IN_PATH) + (f"?{query}" if query else "")
    pairs = parse_qsl(query, keep_blank_values=True)
    found = {
        "method": one["method"],
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(message["headers"]),
        "queryString": _pairs(pairs),
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }
    if message["body"]:
        found["postData"] = {"mimeType": _type(message["headers"]), "params": [], "text": message["body"]}
    return found


def _response(one: Mapping[str, Any]) -> dict[str, Any]:
    """Status 0 is a connection that was closed without an answer."""
    message, status = one["response"], one["status"]
    content = {"size": message["body_bytes"], "mimeType": _type(message["headers"]), "text": message["body"]}
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(message["headers"]),
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }


def _pairs(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _type(headers: Any) -> str:
    return next((str(value) for name, value in headers if name.lower() == "content-type"), "")
