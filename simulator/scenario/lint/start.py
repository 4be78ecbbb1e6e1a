"""What a sandbox starts with and does not work out: secrets that are too short."""

from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import secret_bytes

SECRET_BYTES_MIN = 16


def lint_secrets(root: Reader) -> None:
    """Secrets of keys that are shorter than the service's."""
    for item in root["resellers"].items():
        for key in item["api_keys"].items():
            _lint_secret(key["secret"])
    for item in root["schedule"].items():
        _lint_secret(item["api_key"]["secret"])


def _lint_secret(secret: Reader) -> None:
    try:
        found = secret_bytes(secret.text())
    except ValueError:
        return
    if secret.text() and len(found) < SECRET_BYTES_MIN:
        text = f"a secret of {len(found)} bytes is too short; the service's have 32, use {SECRET_BYTES_MIN} at least"
        secret.problem("short_secret", text)
