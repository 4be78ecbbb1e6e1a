"""What a sandbox starts with and does not work out: inboxes that nobody sends to, secrets that are too short."""

from collections.abc import Iterator

from simulator.domain.model.inboxes import INBOX_SCHEME
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, shown
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import secret_bytes

SECRET_BYTES_MIN = 16


def lint_inboxes(root: Reader, source: str) -> None:
    """Inboxes of `source` that no URL of the scenario names."""
    assert root.node is not None, "a document has a root"
    named = {text.removeprefix(INBOX_SCHEME) for text in _texts(root.node) if text.startswith(INBOX_SCHEME)}
    for name, entry in root["inboxes"].entries():
        if entry.key_position.source == source and name not in named:
            hint = suggestion(name, named) or f"; send something to inbox:{name}, by a callback's or a webhook's url"
            entry.problem("unused_inbox", f"nobody sends to the inbox {shown(name)}{hint}", at_key=True)


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict | list):
        for below in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from _texts(below)
    elif isinstance(node.value, str):
        yield node.value


def lint_secrets(root: Reader) -> None:
    """Secrets of keys that are shorter than the service's."""
    for item in root["resellers"].items():
        for key in item["api_keys"].items():
            _lint_secret(key["secret"])


def _lint_secret(secret: Reader) -> None:
    try:
        found = secret_bytes(secret.text())
    except ValueError:
        return
    if secret.text() and len(found) < SECRET_BYTES_MIN:
        text = f"a secret of {len(found)} bytes is too short; the service's have 32, use {SECRET_BYTES_MIN} at least"
        secret.problem("short_secret", text)
