"""A Bruno collection: a folder of `.bru` files, which Bruno opens and its command line runs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent

from simulator.collections.checks import before_each, checks
from simulator.collections.plan import (
    API_KEY,
    BEARER,
    CREDENTIALS,
    SIGNATURE,
    STAGING,
    Collection,
    Folder,
    Parameter,
    Request,
)


def render(collection: Collection) -> dict[str, str]:
    """The files by their paths below the collection's folder."""
    about = {"version": "1", "name": collection.title, "type": "collection", "ignore": ["node_modules", ".git"]}
    return {
        "bruno.json": json.dumps(about, indent=2) + "\n",
        "collection.bru": _collection(collection),
        "environments/simulator.bru": _variables("vars", collection.settings),
        "environments/staging.bru": _staging(collection.settings),
        **dict(_files(collection.folders)),
    }


def _collection(collection: Collection) -> str:
    signs = collection.is_signed
    blocks = [
        _block("auth", "mode: none" if signs else "mode: bearer"),
        "" if signs else _block("auth:bearer", "token: {{control_token}}"),
        _variables("vars:pre-request", collection.settings | collection.remembered),
        _block("script:pre-request", before_each("bruno")) if signs else "",
        _block("docs", collection.description),
    ]
    return _joined(blocks)


def _joined(blocks: Iterable[str]) -> str:
    return "\n".join(one for one in blocks if one)


def _staging(settings: Mapping[str, str]) -> str:
    """An environment to fill in. Bruno keeps the credentials out of the file, on each person's machine."""
    open_ones = {name: value for name, value in settings.items() if name not in CREDENTIALS}
    secret = ",\n".join(f"  {name}" for name in settings if name in CREDENTIALS)
    text = _variables("vars", open_ones | {"base_url": STAGING})
    return f"{text}\nvars:secret [\n{secret}\n]\n" if secret else text


def _files(folders: Iterable[Folder]) -> Iterator[tuple[str, str]]:
    for number, folder in enumerate(folders, 1):
        about = _block("meta", f"name: {folder.name}\nseq: {number}")
        yield f"{folder.name}/folder.bru", f"{about}\n{_block('docs', folder.description)}"
        for position, request in enumerate(folder.requests, 1):
            yield f"{folder.name}/{request.id}.bru", _request(request, position)


def _request(request: Request, position: int) -> str:
    headers = [*_listed(request.headers)]
    if request.authentication == SIGNATURE:
        headers.insert(0, f"{API_KEY}: {{{{api_key}}}}")
    authentication = "inherit" if request.authentication == BEARER else "none"
    target = f"url: {{{{base_url}}}}{request.path}{request.sent_query}"
    blocks = [
        _block("meta", f"name: {request.name}\ntype: http\nseq: {position}"),
        _block(request.method.lower(), f"{target}\nbody: {_body_mode(request)}\nauth: {authentication}"),
        _block("params:query", "\n".join(_listed(request.query))),
        _block("headers", "\n".join(headers)),
        _block("body:json", request.body),
        _block("tests", "\n".join(checks("bruno", request))),
        # The script has encoded the address, and signed it so.
        _block("settings", "encodeUrl: false"),
        _block("docs", request.documentation),
    ]
    return _joined(blocks)


def _body_mode(request: Request) -> str:
    return "json" if request.body else "none"


def _listed(parameters: Iterable[Parameter]) -> Iterator[str]:
    return (f"{'' if one.sent else '~'}{one.name}: {one.value}" for one in parameters)


def _variables(kind: str, values: Mapping[str, str]) -> str:
    return _block(kind, "\n".join(f"{name}: {value}" for name, value in values.items()))


def _block(kind: str, text: str) -> str:
    """A block of a `.bru` file; nothing when it is empty."""
    return f"{kind} {{\n{indent(text.rstrip(), '  ')}\n}}\n" if text.strip() else ""
