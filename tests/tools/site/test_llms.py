"""The files for assistants: a list of the pages, and all pages as one."""

from pathlib import Path

from tools.site.llms import llms_index, whole_documentation, write_llms_files
from tools.site.pages import reading_order

ROOT = Path(__file__).parents[3]
FILES = {
    "README.md": "# Clocks\n\nIt shows [the time](docs/time.md). And more.\n",
    "docs/README.md": "# Pages\n\n## Begin\n\n1. [Time](time.md)\n2. [Changes](../CHANGELOG.md)\n",
    "docs/time.md": "<!-- Generated -->\n\n# Time\n\nMove a clock: forward\nonly. More.\n\n```sh\n# a comment\n```\n",
    "CHANGELOG.md": "# Changelog\n\nNone yet.\n",
}


def tree_of(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_list_has_a_line_for_each_page_with_its_first_sentence(tmp_path: Path) -> None:
    assert llms_index(tree_of(tmp_path)) == (
        "# Clocks\n\n> It shows the time.\n\nAll pages as one file: [documentation.md](documentation.md)\n\n"
        "## Begin\n\n- [Time](time.html): Move a clock: forward only.\n- [Changelog](changelog.html): None yet.\n"
    )


def test_the_whole_file_has_every_page_in_reading_order(tmp_path: Path) -> None:
    whole = whole_documentation(tree_of(tmp_path))
    assert [line for line in whole.splitlines() if line.startswith("<!-- ") and line.endswith(".md -->")] == [
        "<!-- README.md -->",
        "<!-- docs/time.md -->",
        "<!-- CHANGELOG.md -->",
    ]
    assert "# a comment" in whole


def test_each_page_of_this_project_is_listed_with_a_sentence(tmp_path: Path) -> None:
    write_llms_files(ROOT, tmp_path)
    lines = [line for line in (tmp_path / "llms.txt").read_text("utf-8").splitlines() if line.startswith("- [")]
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert len(lines) == sum(len(section.links) for section in reading_order(index))
    assert [line for line in lines if not line.endswith((".", ":"))] == []
    assert (tmp_path / "documentation.md").read_text("utf-8").count("\n# Quick start\n") == 1
