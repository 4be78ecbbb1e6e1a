"""Configuration that can be restored: the callback URL, the balance webhook (SPEC 4.18 to 4.20). The low-balance
threshold cannot be read, so it is never changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from simulator.staging.conform.context import Run, check
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.service import TRIES_MAX, Answer, NoAnswer

CALLBACK, WEBHOOK = "/v2/callback-url", "/v2/balance-webhook"
DELIVERIES = WEBHOOK + "/deliveries"
PUT_BACK_PAUSE_S = 2.0
NOBODY = "https://conform.invalid/events"


def put_back(run: Run, what: str, send: Callable[[], Answer]) -> None:
    """Restore a setting, and retry when no answer comes, since its old value is stored nowhere else. It raises no
    error: the error that ended the check matters more, and the check reads the setting afterwards."""
    why = ""
    with run.session.restoring():
        for attempt in range(TRIES_MAX):
            if attempt:
                run.session.clock.wait(PUT_BACK_PAUSE_S)
            try:
                answer = send()
            except (NoAnswer, Departs) as error:
                why = str(error)
                continue
            if answer.status < 300:
                return
            why = str(answer)
    run.note(f"{what} could not be put back: {why}")


def _set_callback(run: Run, url: str, method: str) -> Answer:
    return run.session.call("POST", f"{CALLBACK}?method={method}&url={quote(url, safe='')}")


@check("4.18", "The callback URL can be set and read", needs="configuration")
def callback_url_set(run: Run) -> Iterator[Departure]:
    present = run.session.call("GET", CALLBACK)
    url, method = present.at("data.CallbackUrl"), present.at("data.Method")
    if not url:
        raise NotExercised("no callback URL is set, and a URL that we set could not be removed again")
    other = "GET" if method == "POST" else "POST"
    try:
        answer = _set_callback(run, url, other)
        yield from run.expected(answer, 200)
        for shown in (answer, run.session.call("GET", CALLBACK)):
            yield from differ("data.CallbackUrl", url, shown.at("data.CallbackUrl"))
            yield from differ("data.Method", other, shown.at("data.Method"))
    finally:
        put_back(run, f"the callback URL {url} with {method}", lambda: _set_callback(run, url, method))
    yield from differ("data.Method, put back", method, run.session.call("GET", CALLBACK).at("data.Method"))


def put(run: Run, url: str) -> Answer:
    """Create or update the webhook; its secret is masked in the report."""
    answer = run.session.call("PUT", WEBHOOK, {"url": url})
    _hide(run, answer)
    return answer


def _hide(run: Run, answer: Answer) -> None:
    if answer.status == 200 and isinstance(answer.json, dict):
        run.secrets.add([str(answer.json.get("webhook_secret", ""))])


@contextmanager
def a_webhook(run: Run) -> Iterator[tuple[str, Answer | None]]:
    """Yield the URL of the existing webhook; or of a temporary webhook, with the answer to its creation. Afterwards,
    restore the configuration, and raise `Departs` if it is not restored."""
    present = run.session.call("GET", WEBHOOK)
    url, enabled = present.at("webhook_url"), present.at("enabled")

    def as_before() -> Answer:
        if run.session.call("GET", WEBHOOK).at("webhook_url") != url and (answer := put(run, url)).status != 200:
            return answer
        return run.session.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": enabled})

    try:
        created = None if url else put(run, NOBODY)
        yield url or NOBODY, created
    finally:
        if url:
            put_back(run, f"the webhook {url}, enabled: {enabled},", as_before)
        else:
            put_back(run, "no webhook", lambda: run.session.call("DELETE", WEBHOOK))
    if (found := run.session.call("GET", WEBHOOK).at("webhook_url")) != url:
        raise Departs("webhook_url, put back", url, found)


@check("4.19", "A new webhook has a secret of 64 hexadecimal characters", needs="configuration")
def webhook_create(run: Run) -> Iterator[Departure]:
    with a_webhook(run) as (_, created):
        if created is None:
            raise NotExercised("a webhook is configured, and its secret would be lost")
        yield from run.expected(created, 200)
        yield from unless("webhook_secret" in created.json, "webhook_secret", "present on creation", "absent")
        secret = str(created.json.get("webhook_secret", ""))
        shown = run.session.call("GET", WEBHOOK)
        wanted: dict[str, Any] = {"webhook_url": NOBODY, "enabled": True, "secret_last_four": secret[-4:]}
        for name, value in wanted.items():
            yield from differ(name, value, shown.at(name))
        rotated = run.session.call("POST", f"{WEBHOOK}/rotate-secret")
        _hide(run, rotated)
        yield from run.expected(rotated, 200)
        is_new = rotated.at("webhook_secret") != secret
        yield from unless(is_new, "webhook_secret of a rotation", "a new one", "the old one")


@check("4.19", "An update of the webhook does not show its secret", needs="configuration")
def webhook_update(run: Run) -> Iterator[Departure]:
    with a_webhook(run) as (url, _):
        answer = put(run, url)
        yield from run.expected(answer, 200)
        yield from differ("webhook_url", url, answer.at("webhook_url"))
        yield from unless("webhook_secret" not in answer.json, "webhook_secret", "absent on an update", "present")


@check("4.19", "The webhook can be disabled and enabled", needs="configuration")
def webhook_enabled(run: Run) -> Iterator[Departure]:
    with a_webhook(run):
        for enabled in (False, True):
            answer = run.session.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": enabled})
            yield from run.expected(answer, 200)
            yield from differ("enabled", enabled, answer.at("enabled"))
            yield from differ("enabled when it is read", enabled, run.session.call("GET", WEBHOOK).at("enabled"))


@check("8", "A webhook URL has at most 500 characters", needs="configuration")
def webhook_url_refused(run: Run) -> Iterator[Departure]:
    with a_webhook(run) as (url, _):
        answer = put(run, NOBODY.ljust(501, "x"))
        yield from unless(answer.status == 400, "the status", "400", f"{answer.status}")
        yield from differ("webhook_url", url, run.session.call("GET", WEBHOOK).at("webhook_url"))
