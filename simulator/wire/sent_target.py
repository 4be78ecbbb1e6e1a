"""What curl 7.88 sends for a URL: without its fragment, `/a/../b` as `/b`, with the data of `-G` and `--url-query`."""

import re

_REFUSED = re.compile(r"[\x00-\x20\x7f]")
_SCHEME = re.compile(r"(https?):/{1,3}(?!/)", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Curl reads an IPv6 address and `[]` as they stand, and takes the backslash from these four.
_ADDRESS = re.compile(r"(?:https?://)?(?:[^/@]*@)?\[[0-9A-Fa-f:.%]+\]", re.IGNORECASE)
_PATTERN = re.compile(r"\\([][{}])|(\[\])|([][{}])")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_SHOWN_CHARS = 80


class NotSent(ValueError):
    """Curl sends no such URL, or several; the text says why."""


def sent_target(url: str, added: str | None, is_globbed: bool, is_path_as_is: bool) -> str:
    """The URL, or path with its query, as it is sent, with `added` behind its query. Raises `NotSent`."""
    if found := _REFUSED.search(url + (added or "")):
        raise NotSent(f"curl refuses a URL with {found[0]!r}: escape it, as a blank by %20")
    if is_globbed:
        url = _without_patterns(url)
    before, path, query = _split(url)
    # Adding to the query makes curl forget --path-as-is.
    if added is not None or not is_path_as_is:
        path = _without_dots(path)
    if added is not None:
        query = _with_added(query, added)
    return before + "".join(one if one.isascii() else _escaped(one) for one in path) + query


def _without_patterns(url: str) -> str:
    found = _ADDRESS.match(url)
    start = found.end() if found else 0
    return url[:start] + _PATTERN.sub(_literal, url[start:])


def _literal(found: re.Match[str]) -> str:
    if found[3]:
        shown = found.string[:_SHOWN_CHARS]
        raise NotSent(f"curl takes the {found[3]} of {shown!r} for a pattern of URLs: give --globoff, or escape it")
    return found[1] or found[2]


def _split(url: str) -> tuple[str, str, str]:
    """What is before the path, the path, and the query with its `?`."""
    rest, before = url.partition("#")[0], ""
    if not rest.startswith("/"):
        if found := _SCHEME.match(rest):
            before, rest = f"{found[1].lower()}://", rest[found.end() :]
        elif _OTHER_SCHEME.match(rest):
            raise NotSent(f"the URL {url[:_SHOWN_CHARS]!r} is none of HTTP: give one with http:// or https://")
        else:
            before = "http://"
        host = re.split(r"[/?]", rest, maxsplit=1)[0]
        before, rest = before + host, rest.removeprefix(host)
    path, mark, query = rest.partition("?")
    return before, path or "/", mark + query


def _without_dots(path: str) -> str:
    kept = list[str]()
    folders = path.split("/")[1:]
    for one in folders:
        if one == "..":
            del kept[-1:]
        elif one != ".":
            kept.append(one)
    if folders[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _with_added(query: str, added: str) -> str:
    """The query with more behind it, whose escapes curl writes in lower case."""
    more = _ESCAPED.sub(lambda found: found[0].lower(), added.partition("#")[0])
    before = query.removeprefix("?")
    whole = before + ("&" if before and not before.endswith("&") else "") + more
    return f"?{whole}" if whole else ""


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
