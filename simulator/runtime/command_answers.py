"""What a command of the control API answered, in a few words that a tape has and a replay compares."""

from enum import Enum
from hashlib import blake2b

import msgspec

from simulator.domain.model.answers import ProductChange, TreeChange
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.resellers import ApiKey, Reseller, Settings
from simulator.domain.model.rules import Rule
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.wire.catalog import product_body, tree_part
from simulator.wire.money import encode

DONE = "done"
SCENARIO = "scenario"  # the code of a scenario that is not accepted


def answer_text(answer: object) -> str:
    """The answer of a command; texts that clients chose and secrets are in it as digests."""
    match answer:
        case Entry():
            return f"entry {answer.id}: {answer.type.value} {answer.amount}, balance {answer.balance}"
        case Callback():
            return f"callback {answer.id}"
        case Delivery():
            return f"delivery {answer.id}"
        case ApiKey():
            return f"api key {digest([answer.key, answer.secret, answer.state.value])}"
        case Reseller():
            return f"reseller {digest([answer.code, str(answer.wallet.balance), [one.key for one in answer.keys]])}"
        case Settings():
            return f"settings {digest(msgspec.to_builtins(answer))}"
        case ProductChange():
            options = [(one.field_id, one.after.code, one.after.is_active) for one in answer.options]
            return f"product {digest([answer.changed, options, encode(product_body(answer.after))])}"
        case TreeChange():
            return f"tree {digest([answer.changed, encode(tree_part(answer.after))])}"
        case Rule():
            return f"rule {digest(answer.label)}"
        case Enum():
            return str(answer.value)
    return DONE


def refusal_text(code: str) -> str:
    """That a command was refused."""
    return f"refused: {code}"


def digest(content: object) -> str:
    """A short digest of plain content, the same in every process."""
    return blake2b(msgspec.json.encode(content, order="sorted"), digest_size=8).hexdigest()
