"""A headless Chromium for tests of web pages. What a page logs as an error, or fails to load, is collected."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.tools import program

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

# Chromium as root in a closed network: no sandbox of its own, and none of its background requests.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def page() -> Iterator["tuple[Page, list[str]]"]:
    """An empty page, and the mistakes that it and its requests make from now on."""
    executable = program("chromium")
    from playwright.sync_api import sync_playwright

    mistakes: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        opened = browser.new_page()
        opened.on(
            "console",
            lambda said: mistakes.append(f"{said.text} {said.location['url']}") if said.type == "error" else None,
        )
        opened.on("pageerror", lambda error: mistakes.append(str(error)))
        opened.on("requestfailed", lambda request: mistakes.extend(_failed(request)))
        yield opened, mistakes
        browser.close()


def _failed(request: "Request") -> list[str]:
    """What to say of a request that failed. A page gives up reading when it, or a view of it, is left."""
    is_left = request.failure == "net::ERR_ABORTED" and request.resource_type != "document"
    return [] if is_left else [f"{request.url}: {request.failure}"]
