"""From Markdown of the repository to Markdown of the site: names, order, links, pictures, files."""

from pathlib import Path

import pytest

from tools.site.assembly import Assembly
from tools.site.links import for_site, outside_code
from tools.site.pages import contents, reading_order, site_names

INDEX = (
    "# Pages\n\nText [a](a.md).\n\n## Begin\n\n1. [A](a.md): [b](b.md)\n2. [Log](../CHANGELOG.md)\n\n## None\n\n- x\n"
)
NAMES = {"docs/README.md": "index.md", "docs/a.md": "a.md", "CHANGELOG.md": "changelog.md", "README.md": "overview.md"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "README.md": "# All\n\n[a](docs/a.md)\n",
        "docs/README.md": INDEX,
        "docs/a.md": "# A\n\n[f](../examples/go/x.go) [out](../../secret.txt) [e](../examples/go/README.md#run)\n",
        "docs/b.md": "# B\n",
        "docs/images/x.png": "png",
        "CHANGELOG.md": "# Changelog\n",
        "examples/go/README.md": "# Go\n\n## Run\n",
        "examples/go/x.go": "package x\n```\n",
    }
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "tree"


def test_the_reading_order_is_what_the_index_lists_section_by_section() -> None:
    assert reading_order(INDEX) == [("Begin", ("a.md", "../CHANGELOG.md"))]


def test_the_menu_has_the_order_and_last_the_pages_that_no_section_lists() -> None:
    begin, more = contents(INDEX, NAMES).split("```\n")[:2]
    assert begin.split() == ["```{toctree}", ":hidden:", ":caption:", "Begin", "a.md", "changelog.md"]
    assert more.split() == ["```{toctree}", ":hidden:", ":caption:", "More", "pages", "overview.md"]


def test_pages_have_names_of_their_own_on_the_site(tree: Path) -> None:
    names = site_names(tree)
    assert names == NAMES | {"docs/b.md": "b.md", "examples/go/README.md": "example-go.md"}


def test_a_tree_is_assembled_with_the_files_that_its_pages_link(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    names = Assembly(tree, out).names
    assert names["source/examples/go/x.go.md"] == "examples/go/x.go"
    source = (out / "source/examples/go/x.go.md").read_text()
    assert source.endswith("# examples/go/x.go\n\n~~~~~~~~go\npackage x\n```\n~~~~~~~~\n")
    assert (out / "a.md").read_text() == (
        "# A\n\n[f](source/examples/go/x.go.md) [out](../../secret.txt) [e](example-go.md#run)\n"
    )
    assert (out / "images/x.png").exists()
    assert "secret" not in {path.stem for path in out.rglob("*")}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](docs/a.md#x) [b](https://x/docs/a.md)", "[a](a.md#x) [b](https://x/docs/a.md)"),
        ("```sh\n[a](docs/a.md)\n```\n[a](docs/a.md)", "```sh\n[a](docs/a.md)\n```\n[a](a.md)"),
        ("```mermaid\ngraph TD\n```", "```text\ngraph TD\n```"),
        ("[a](nowhere.md)", "[a](nowhere.md)"),
        ('<img src="docs/a.md">', '<img src="a.md">'),
        ('<a id="x"></a>x\n[y](#x) [z](#y)', '<a id="x"></a>x\n<a href="#x">y</a> [z](#y)'),
        ("[y](docs/a.md#own) [y](docs/a.md#other)", '<a href="a.html#own">y</a> [y](a.md#other)'),
        (
            '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="d.png">\n'
            '  <img alt="words" src="l.png">\n</picture>',
            '<div>\n  <img class="only-dark" alt="words" src="d.png">\n'
            '  <img class="only-light" alt="words" src="l.png">\n</div>',
        ),
    ],
)
def test_a_link_leads_to_the_sites_page(text: str, shown: str) -> None:
    assert for_site(text, "README.md", NAMES.get, {"a.md": {"own"}, "overview.md": {"x"}}) == shown


def test_a_block_of_code_ends_with_a_fence_as_long_as_its_first() -> None:
    text = "a\n````md\n```sh\n[x](y)\n```\n````\nb\n~~~\n```\n~~~\nc"
    assert [line for line, is_prose in outside_code(text) if is_prose] == ["a", "b", "c"]
