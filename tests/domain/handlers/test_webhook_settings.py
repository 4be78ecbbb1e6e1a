"""The balance webhook of a reseller: set, enabled, rotated, removed (SPEC 3.3)."""

from datetime import datetime
from typing import Any

import pytest

from simulator.domain.commands import EnableWebhook, RemoveWebhook, RotateWebhookSecret, SetWebhook
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.webhooks import Webhook, WebhookStart
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import START, sandbox, seconds

URL, OTHER = "https://hook.example", "https://other.example"
EVERY_REQUEST = {"webhook-updated": "requests"}


def hook(box: Sandbox, code: str = "R1") -> Webhook:
    return box.state.resellers[code].webhook


def test_a_new_webhook_is_enabled_with_a_secret_of_its_own() -> None:
    box = sandbox()
    assert box.apply(SetWebhook("R1", URL), seconds(5)) is True
    webhook = hook(box)
    assert (webhook.url, webhook.enabled, webhook.created, webhook.updated) == (URL, True, seconds(5), seconds(5))
    assert len(bytes.fromhex(webhook.secret)) == 32
    box.apply(SetWebhook("R2", URL), seconds(5))
    assert hook(box, "R2").secret != webhook.secret
    assert set(box.state.secrets) == {webhook.secret, hook(box, "R2").secret}


def test_a_change_of_the_url_keeps_secret_and_state() -> None:
    box = sandbox()
    box.apply(SetWebhook("R1", URL), START)
    secret = hook(box).secret
    box.apply(EnableWebhook("R1", False), seconds(1))
    assert box.apply(SetWebhook("R1", OTHER), seconds(2)) is False
    webhook = hook(box)
    assert (webhook.url, webhook.secret, webhook.enabled) == (OTHER, secret, False)
    assert (webhook.created, webhook.updated) == (START, seconds(2))


@pytest.mark.parametrize(
    ("command", "assume", "updated"),
    [
        (SetWebhook("R1", URL), {}, START),
        (SetWebhook("R1", URL), EVERY_REQUEST, seconds(9)),
        (SetWebhook("R1", OTHER), {}, seconds(9)),
        (EnableWebhook("R1", True), {}, START),
        (EnableWebhook("R1", True), EVERY_REQUEST, seconds(9)),
        (EnableWebhook("R1", False), {}, seconds(9)),
        (RotateWebhookSecret("R1"), {}, seconds(9)),
    ],
)
def test_the_time_of_the_last_update_moves_with_a_change(command: Any, assume: Any, updated: datetime) -> None:
    box = sandbox(assume=assume)
    box.apply(SetWebhook("R1", URL), START)
    box.apply(command, seconds(9))
    assert hook(box).updated == updated


def test_a_rotation_replaces_the_secret_and_remembers_the_former_secret() -> None:
    box = sandbox()
    box.apply(SetWebhook("R1", URL), START)
    former = hook(box).secret
    assert box.apply(RotateWebhookSecret("R1"), START) is True
    assert hook(box).secret != former
    assert list(box.state.secrets.former) == [former]


def test_a_reseller_without_webhook_cannot_enable_or_rotate_it() -> None:
    box = sandbox()
    assert box.apply(EnableWebhook("R1", True), START) is False
    assert box.apply(RotateWebhookSecret("R1"), START) is False
    assert hook(box) == Webhook()


def test_a_removed_webhook_leaves_none_and_the_next_one_has_another_secret() -> None:
    box = sandbox()
    box.apply(SetWebhook("R1", URL), START)
    old = hook(box)
    box.apply(RemoveWebhook("R1"), START)
    box.apply(RemoveWebhook("R1"), START)
    assert (hook(box).url, hook(box).enabled, old.enabled) == ("", False, False)
    assert box.apply(SetWebhook("R1", URL), START) is True
    assert hook(box).secret != old.secret
    assert old.secret in box.state.secrets.former


@pytest.mark.parametrize(("secret", "enabled"), [("ab" * 32, True), ("", True), ("", False)])
def test_a_scenario_may_start_with_a_webhook(secret: str, enabled: bool) -> None:
    start = ResellerStart("R1", "r@example.com", webhook=WebhookStart(URL, secret, enabled))
    webhook = hook(sandbox(resellers=(start,)))
    assert (webhook.url, webhook.enabled, webhook.created, webhook.updated) == (URL, enabled, START, START)
    assert webhook.secret == secret if secret else len(bytes.fromhex(webhook.secret)) == 32
