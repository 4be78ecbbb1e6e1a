"""Steps of clients that do not sign: legacy clients with a bearer token, and testers who name a rule."""

import msgspec

from tools.worlds.client_steps import PAY, READS, asked_for, payment
from tools.worlds.clients import HOST, Answered, Asked
from tools.worlds.scenarios import password_of, user_of
from tools.worlds.steps import BOX, WHO, number, one_of, step
from tools.worlds.world import World


@step(1.5, box=BOX, who=WHO, is_right=one_of(True, True, True, False))
def fetch_token(world: World, box: str, who: str, is_right: bool) -> None:
    """Ask for a token, sometimes with a wrong password."""
    life = world.life(box)
    body = msgspec.json.encode({"username": user_of(who), "password": password_of(who) if is_right else "wrong"})
    asked = Asked(box, who if is_right else "", "POST", "/v2/token", body)

    def keep(answered: Answered) -> None:
        if answered.status == 200 and answered.is_whole and life is not None:
            life.tokens[who] = msgspec.json.decode(answered.body)["IdToken"]
            if not is_right:
                world.answers.problems.append(f"{box}: a token for a wrong password of {who}")

    task = world.clients.send(asked, _headers(asked))
    task.add_done_callback(lambda done: None if done.cancelled() else keep(done.result()))


@step(3, box=BOX, who=WHO, target=one_of(*READS, "/v2/balance"))
def read_by_token(world: World, box: str, who: str, target: str) -> None:
    """Send a GET request with the latest token, valid or not."""
    life = world.life(box)
    if life is not None and who in life.tokens:
        asked = Asked(box, who, "GET", target)
        world.clients.send(asked, [*_headers(asked), _bearer(life.tokens[who])])


@step(2, **PAY)
def pay_by_token(world: World, box: str, who: str, refid: int, product: str, account: str, amount: str) -> None:
    """Pay with the latest token."""
    life = world.life(box)
    if life is not None and who in life.tokens:
        asked = asked_for(world, box, who, payment(refid, product, account, amount))
        world.clients.send(asked, [*_headers(asked), _bearer(life.tokens[who])])


@step(2, **PAY, rule=number(0, 30))
def pay_by_rule(
    world: World, box: str, who: str, refid: int, product: str, account: str, amount: str, rule: int
) -> None:
    """Pay and name the rule that decides, one that exists or existed."""
    life = world.life(box)
    names = sorted(life.core.state.rule_names()) if life is not None else []
    name = names[rule % len(names)] if names else "none"
    asked = asked_for(world, box, who, payment(refid, product, account, amount))
    world.clients.send(asked, [*world.clients.sign(asked), (b"x-sim-rule", name.encode())])


def _headers(asked: Asked) -> list[tuple[bytes, bytes]]:
    length = str(len(asked.body)).encode()
    return [HOST, (b"content-length", length), (b"content-type", b"application/json")] if asked.body else [HOST]


def _bearer(token: str) -> tuple[bytes, bytes]:
    return b"authorization", f"Bearer {token}".encode()
