"""Render the table of the campaign's figures in docs/reliability.md."""

from campaign.outcome import COLUMNS
from campaign.results import load
from simulator.contract.files import data_dir
from tools.tables import markdown

PAGE = data_dir("contracts").parent / "docs" / "reliability.md"
BEGIN = "<!-- Generated from campaign/results.json by `make docs`; `make campaign ARGS=--save` measures it. -->\n"
END = "<!-- End of what is generated. -->\n"


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    rows = [[*COLUMNS, "on"]]
    for row in load():
        figures = "; ".join(row["figures"])
        rows.append([row["part"], row["promise"], f"{row['tried']:,}", str(row["broken"]), figures, row["on"]])
    return f"{before}{BEGIN}\n{markdown(rows)}\n\n{END}{after}"
