"""A request that was signed, as the autopsy and the header of its refusal take it."""

from base64 import b64decode

from simulator.auth.autopsy.body_mistakes import body_flaw
from simulator.auth.autopsy.report import diagnose
from simulator.auth.autopsy.signing_steps import Facts, Other, Ways
from simulator.auth.canonical import QueryRules, body_hash
from simulator.auth.form import wrong_form
from simulator.auth.signature import Claim, check_headers
from simulator.contract.endpoints import fields_of
from tests.support import signing
from tests.support.mistaken_clients import (
    KEY,
    NONCE,
    NOW,
    OLD_SECRET,
    OTHER_KEY,
    OTHER_NONCE,
    OTHER_SECRET,
    SECRET,
    Request,
)

RULES = QueryRules()


def facts(request: Request, sent: str, rules: QueryRules = RULES) -> Facts:
    """Return the input of the autopsy."""
    return Facts(
        timestamp=str(NOW).encode(),
        nonce=NONCE.encode(),
        method=request.method.encode(),
        query=request.query.encode(),
        body=request.body,
        hashed=body_hash(request.body),
        signature=sent.encode(),
        secret=b64decode(SECRET),
        path=request.path.encode(),
        prefix=b"/s/mine",
        host=b"sim.test",
        api_key=KEY.encode(),
        fields=fields_of(request.method, request.path),
        rules=rules,
        others=(Other(f"the key {OTHER_KEY} of THEM", b64decode(OTHER_SECRET)), Other("", b64decode(OLD_SECRET))),
        nonces=(OTHER_NONCE.encode(),),
    )


def header(request: Request, sent: str, rules: QueryRules = RULES) -> str:
    """Return the header X-Sim-Diagnosis about the request."""
    held = signing.KeyRecord("active", b64decode(SECRET))
    sent_headers = {
        b"host": b"sim.test",
        b"x-api-key": KEY.encode(),
        b"x-timestamp": str(NOW).encode(),
        b"x-nonce": NONCE.encode(),
    }
    claim = check_headers(sent_headers | {b"x-signature": sent.encode()}, held, NOW, 300)
    if isinstance(claim, Claim):
        query = request.query.encode()
        parts = (request.method, request.path, query, request.body)
        fields = fields_of(request.method, request.path)
        return diagnose(claim, *parts, rules, "/s/mine", sent_headers, fields)
    return claim.diagnosis


def sentence(found: Ways) -> str:
    """Return what the header says of mistakes."""
    return " and ".join(f"{one.does}; {one.mistake.fix}" for one in found)


def agrees(said: str, found: Ways, request: Request, sent: str) -> bool:
    """Return whether a header says the mistakes that the autopsy found, or only what the signature and the body show by
    their form, or that the whole autopsy has to be read."""
    forms = (wrong_form(sent.encode()), body_flaw(facts(request, sent)))
    return said in (sentence(found), *filter(None, forms)) or said.startswith("no common mistake was found")
