"""Parsing scenarios from YAML: the meaning of scalars, positions, and limits."""

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from simulator.contract.files import data_dir
from simulator.scenario.reading import yaml_parser
from simulator.scenario.reading.nodes import Document, Position, Problem, ScenarioError
from simulator.scenario.reading.yaml_parser import load_file, load_object, load_text, scalar
from tests.support.bad_scenarios import BAD_OBJECTS, REFUSED

SCALARS: list[tuple[str, object]] = [
    ("true", True),
    ("false", False),
    ("null", None),
    ("", None),
    ("0", 0),
    ("-0", 0),
    ("7", 7),
    ("-42", -42),
    ("10.00", Decimal("10.00")),
    ("-0.5", Decimal("-0.5")),
    ("NO", "NO"),
    ("no", "no"),
    ("yes", "yes"),
    ("on", "on"),
    ("True", "True"),
    ("~", "~"),
    ("Null", "Null"),
    ("010", "010"),
    ("00", "00"),
    ("0123456789", "0123456789"),
    ("-01", "-01"),
    ("12:30", "12:30"),
    ("1_000", "1_000"),
    ("0x10", "0x10"),
    ("0o7", "0o7"),
    ("0b1", "0b1"),
    ("+1", "+1"),
    ("1e3", "1e3"),
    ("1.", "1."),
    (".5", ".5"),
    ("01.5", "01.5"),
    (".inf", ".inf"),
    (".nan", ".nan"),
    ("2027-01-10", "2027-01-10"),
    ("2027-01-10T23:59:00+08:00", "2027-01-10T23:59:00+08:00"),
    ("٣", "٣"),
    ("=", "="),
    ("-", "-"),
]


@pytest.mark.parametrize(("text", "meaning"), SCALARS)
def test_an_unquoted_scalar_is_a_number_only_when_it_can_be_nothing_else(text: str, meaning: object) -> None:
    found = scalar(text)
    assert found == meaning
    assert type(found) is type(meaning)
    assert str(found) == str(meaning)


@pytest.mark.parametrize("text", ["10", "true", "null", "1.50", "NO"])
def test_a_quoted_scalar_is_text(text: str) -> None:
    document = load_text(f"a: \"{text}\"\nb: '{text}'\nc: |-\n  {text}\n", "f.yaml")
    assert document.data == {"a": text, "b": text, "c": text}


POSITIONED = """\
# a comment
scenario: one
payments:
  - name: first
    when: {account: "1", amount: {min: 2}}
  - then:
    - status: Accepted
"""

MARKS: list[tuple[tuple[str | int, ...], tuple[int, int], tuple[int, int]]] = [
    ((), (2, 1), (2, 1)),
    (("scenario",), (2, 11), (2, 1)),
    (("payments",), (4, 3), (3, 1)),
    (("payments", 0), (4, 5), (4, 5)),
    (("payments", 0, "name"), (4, 11), (4, 5)),
    (("payments", 0, "when"), (5, 11), (5, 5)),
    (("payments", 0, "when", "account"), (5, 21), (5, 12)),
    (("payments", 0, "when", "amount", "min"), (5, 40), (5, 35)),
    (("payments", 1, "then"), (7, 5), (6, 5)),
    (("payments", 1, "then", 0, "status"), (7, 15), (7, 7)),
    (("payments", 7, "nothing"), (4, 3), (4, 3)),
]


@pytest.mark.parametrize(("path", "value", "key"), MARKS)
def test_every_value_and_every_key_has_its_line_and_column(
    path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
) -> None:
    document = load_text(POSITIONED, "f.yaml")
    assert document.position(path) == Position("f.yaml", *value)
    assert document.position(path, of_key=True) == Position("f.yaml", *key)


def test_columns_count_characters_not_bytes() -> None:
    assert load_text("{é: 1, b: 2}".encode(), "f").position(("b",), of_key=True) == Position("f", 1, 8)


def test_a_byte_order_mark_moves_no_position() -> None:
    document = load_text(b"\xef\xbb\xbfseed: 1\n", "f")
    assert document.data == {"seed": 1}
    assert document.position(("seed",), of_key=True) == Position("f", 1, 1)


def first_problem(text: str | bytes) -> Problem:
    """Return the first finding of a text, however it is reported."""
    try:
        return load_text(text, "f").problems[0]
    except ScenarioError as error:
        return error.problems[0]


def test_a_parser_that_stops_at_a_depth_of_its_own_gives_the_same_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """As libyaml does from PyYAML 6.0.4 on, where an older one gives us the events."""

    def stopping(*_: object, **named: object) -> None:
        place = yaml.Mark("f", 1000, 0, 1000, "", 0)
        context = "while increasing flow level"
        raise yaml.scanner.ScannerError(context, place, "exceeded maximum nesting depth", place)

    text = "[" * 2000 + "]" * 2000
    expected = first_problem(text)
    monkeypatch.setattr(yaml_parser, "LOADER", stopping)
    found = first_problem(text)
    assert (found.code, found.message) == (expected.code, expected.message)
    assert (found.line, found.column, found.code) == (1, 1001, "too_deep")


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_surprising_form_of_yaml_is_a_problem_at_its_line(text: str | bytes, expected: str) -> None:
    assert str(first_problem(text)).startswith(f"f:{expected} ")


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_without_libyaml_the_same_is_refused(text: str | bytes, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_parser, "LOADER", yaml.SafeLoader)
    found = first_problem(text)
    assert found.line == int(expected.split(":")[0])
    assert {found.code, expected.split()[-1]} <= {"syntax", "bad_text", "encoding"} or expected.endswith(found.code)


@pytest.mark.slow
def test_without_libyaml_the_bundled_scenarios_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_bytes() for path in sorted(data_dir("scenarios").glob("*.yaml"))]
    fast = [load_text(text, "f") for text in texts]
    monkeypatch.setattr(yaml_parser, "LOADER", yaml.SafeLoader)
    for text, document in zip(texts, fast, strict=True):
        pure = load_text(text, "f")
        assert pure.data == document.data
        assert pure.position(("payments",), of_key=True) == document.position(("payments",), of_key=True)


def test_a_thousand_problems_are_cut_at_a_hundred() -> None:
    assert len(load_text("a: &a x\n" + "".join(f"k{i}: *a\n" for i in range(1000)), "f").problems) == 100


def test_reading_continues_after_a_problem() -> None:
    document = load_text("a: &x 1\nb: !!str 2\na: 3\n", "f")
    assert [problem.code for problem in document.problems] == ["anchor", "tag", "duplicate_key"]
    assert document.data == {"a": 1, "b": "2"}


def test_an_object_has_paths_instead_of_lines() -> None:
    document = load_object({"a": [1.5, Decimal("2.0"), True, None, "x"], "b": {"c": "\x00"}})
    assert document.data == {"a": [Decimal("1.5"), 2, True, None, "x"], "b": {"c": None}}
    assert [str(problem) for problem in document.problems] == [
        "b.c: bad_text text must not have control characters except tab and line feed"
    ]


@pytest.mark.parametrize(("value", "code"), [row[1:] for row in BAD_OBJECTS], ids=[row[0] for row in BAD_OBJECTS])
@pytest.mark.slow
def test_an_object_keeps_the_same_limits(value: object, code: str) -> None:
    try:
        found = load_object(value).problems
    except ScenarioError as error:
        found = tuple(error.problems)
    assert code in [problem.code for problem in found]


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "absent.yaml", "there is no such file"), (tmp_path, "this is a folder")):
        with pytest.raises(ScenarioError) as raised:
            load_file(path)
        (problem,) = raised.value.problems
        assert (problem.code, problem.message[: len(said)]) == ("no_file", said)


def test_an_endless_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="not an ordinary file"):
        load_file(Path("/dev/zero"))


def test_an_empty_document_is_an_empty_object() -> None:
    for text in ("", "# only a comment\n", b"\xef\xbb\xbf"):
        document = load_text(text, "f")
        assert isinstance(document, Document)
        assert document.data == {}
