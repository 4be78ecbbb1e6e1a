"""Findings of the check of a built site, in its pages and style sheets."""

from pathlib import Path

import pytest

from tools.site.checking import Site
from tools.site.versions import list_page

OTHER = '<h1 id="top">B</h1><h2 id="caf%C3%A9">c</h2><p id="café"></p>'


def mistakes(folder: Path, page: str, css: str = "") -> list[str]:
    (folder / "deep").mkdir()
    (folder / "deep" / "a.html").write_text(page)
    (folder / "b.html").write_text(OTHER)
    (folder / "x.css").write_text(css)
    return Site(folder).mistakes()


@pytest.mark.parametrize(
    "page",
    [
        '<h1>A</h1><a href="../b.html#top">b</a><a href="#">top</a><a href="https://example.com/x#y">out</a>',
        '<h1>A</h1><h2>1</h2><h3>2</h3><h2>3</h2><a href="../b.html#caf%C3%A9">b</a><a href="mailto:a@b">m</a>',
        '<h1>A</h1><link rel="stylesheet" href="../x.css?v=1"><link rel="next" href="../b.html"><img src="../x.css">',
    ],
)
def test_a_page_without_mistakes(tmp_path: Path, page: str) -> None:
    assert mistakes(tmp_path, page) == []


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<h1>A</h1><a href="../c.html">c</a>', "the link ../c.html leads nowhere"),
        ('<h1>A</h1><a href="../b.html#no">b</a>', "the link ../b.html#no leads nowhere"),
        ('<h1>A</h1><a href="#no">b</a>', "the link #no leads nowhere"),
        ('<h1>A</h1><a href="../../b.html">b</a>', "the link ../../b.html leads nowhere"),
        ('<h1>A</h1><a href="../deep">b</a>', "the link ../deep leads nowhere"),
        ('<h1>A</h1><img src="x.png">', "the link x.png leads nowhere"),
        ('<h1>A</h1><script src="//cdn.example/x.js"></script>', "it loads //cdn.example/x.js"),
        ('<h1>A</h1><link rel="preconnect" href="https://f.example">', "it loads https://f.example"),
        ("<h2>A</h2>", "it has 0 headings of the first level"),
        ("<h1>A</h1><h1>B</h1>", "it has 2 headings of the first level"),
        ("<h1>A</h1><h3>B</h3>", "a heading of level 3 follows one of level 1"),
    ],
)
def test_a_page_with_a_mistake(tmp_path: Path, page: str, said: str) -> None:
    assert mistakes(tmp_path, page) == [f"deep/a.html: {said}"]


@pytest.mark.parametrize("css", ["a { src: url('https://f.example/x.woff') }", '@import "https://f.example/x.woff";'])
def test_a_style_sheet_loads_nothing_from_elsewhere(tmp_path: Path, css: str) -> None:
    assert mistakes(tmp_path, "<h1>A</h1>", css) == ["x.css: it loads https://f.example/x.woff"]


def test_the_list_of_versions_has_the_newest_release_first_and_the_working_tree_last(tmp_path: Path) -> None:
    page = list_page(["dev", "0.10.0", "0.9"])
    assert [page.index(f'"{name}/index.html"') for name in ("0.10.0", "0.9", "dev")] == sorted(
        page.index(f'"{name}/index.html"') for name in ("0.10.0", "0.9", "dev")
    )
    assert ">0.10.0</a>, the newest release<" in page
    assert ">dev</a>, what is not released yet<" in page
    assert "the newest release" not in list_page(["dev"])
