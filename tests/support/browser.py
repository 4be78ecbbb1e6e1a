"""A headless Chromium for tests of web pages. It collects the errors and failed loads of a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.programs import program

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
def page(has_back_cache: bool = False) -> Iterator["tuple[Page, list[str]]"]:
    """An empty page, and the mistakes that it and its requests make from now on. Its context can open others. With
    `has_back_cache` the browser keeps pages that are left for its back button, as it does for people."""
    executable = program("chromium")
    from playwright.sync_api import sync_playwright

    mistakes: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=list(FLAGS),
            ignore_default_args=["--disable-back-forward-cache"] if has_back_cache else [],
        )
        opened = browser.new_context().new_page()
        collect_mistakes(opened, mistakes)
        yield opened, mistakes
        browser.close()


def collect_mistakes(page: "Page", mistakes: list[str]) -> None:
    """Add the errors and failed loads of a page to `mistakes`."""
    page.on(
        "console",
        lambda message: (
            mistakes.append(f"{message.text} {message.location['url']}") if message.type == "error" else None
        ),
    )
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    page.on("requestfailed", lambda request: mistakes.extend(_failed(request)))


def _failed(request: "Request") -> list[str]:
    """Describe a failed request. Requests that a page aborts when it, or its view, is left are no failures."""
    is_left = request.failure == "net::ERR_ABORTED" and request.resource_type != "document"
    return [] if is_left else [f"{request.url}: {request.failure}"]
