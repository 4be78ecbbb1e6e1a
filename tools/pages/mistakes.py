"""Render the table of known mistakes in docs/debug-a-signature.md."""

from simulator.auth.autopsy.search import MISTAKES
from simulator.auth.autopsy.signing_steps import PLACES
from simulator.contract.files import data_dir
from tools.tables import cell, markdown

PAGE = data_dir("contracts").parent / "docs" / "debug-a-signature.md"
BEGIN = "<!-- Generated from simulator/auth/autopsy by `make docs`; change it there. -->\n"
END = "<!-- End of what is generated. -->\n"
_TITLES = {
    "timestamp": "In the timestamp",
    "nonce": "In the nonce",
    "method": "In the method",
    "query": "In the query",
    "body hash": "In the body hash",
    "string": "In how the string is put together",
    "key": "In the key of the HMAC",
    "algorithm": "In the algorithm",
    "encoding": "In how the signature is written",
    "prefix": "In its prefix",
}
_READ = ("encoding", "prefix")  # found by reading X-Signature, so that they cost no HMAC


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "".join(map(_section, _TITLES)) + "\n" + END + after


def _section(place: str) -> str:
    rows = [("id", "the client", "what to do", "header")]
    for one in MISTAKES:
        if PLACES[one.step] == place:
            is_in_header = one.common or place in _READ
            rows.append(
                (f"`{one.id}`", cell(one.does.replace("{}", "…")), cell(one.fix), "yes" if is_in_header else "")
            )
    return f"\n### {_TITLES[place]}\n\n{markdown(rows)}\n"
