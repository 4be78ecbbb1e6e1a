"""The proxy variables of an environment, and what keeps requests to a simulator away from the proxy."""

from collections.abc import Mapping
from urllib.parse import urlsplit

BYPASSES = ("NO_PROXY", "no_proxy")
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


def bypass(environment: Mapping[str, str], url: str) -> dict[str, str]:
    """Return both spellings of NO_PROXY with the host of `url` after all that either of them has. Programs read one of
    the two, and not the same one. `*`, which means every host, is understood when it stands alone, so it stays so."""
    host = urlsplit(url).hostname or ""
    hosts = [part.strip() for name in BYPASSES for part in environment.get(name, "").split(",")]
    if "*" in hosts:
        return dict.fromkeys(BYPASSES, "*")
    wanted = [host, f"[{host}]"] if ":" in host else [host]
    value = ",".join(dict.fromkeys(filter(None, [*hosts, *wanted])))
    return dict.fromkeys(BYPASSES, value)


def proxy_hint(environment: Mapping[str, str]) -> str:
    """Return the end of a sentence about requests that did not arrive: which proxy variables are set; empty without."""
    found = [name for name in PROXIES if environment.get(name)]
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    return f" {', '.join(found)} {verb} set: does the HTTP client heed NO_PROXY?"
