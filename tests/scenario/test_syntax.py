"""What `check` says of a text that is not YAML, for mistakes that the parser's own words hide."""

import pytest
import yaml

from simulator.scenario.reading import yaml_parser
from tests.support.readings import problems

# A mistake, the text, the place, and the message.
MISTAKES = [
    ('a tab', 'extends: default\npayments:\n\t- when: {}\n', '3:1', 'a tab cannot indent; write spaces'),
    ('a tab behind spaces', 'extends: default\npayments:\n  - name: x\n  \t  then: y\n', '4:3', 'a tab cannot indent; write spaces'),
    ('a colon', 'extends: default\ndescription: a day: a bad one\n', '2:19', 'needs quotes: write description: "…"'),
    ('a colon in a rule', 'extends: default\npayments:\n  - name: so: no\n', '3:13', 'needs quotes: write name: "…"'),
    ('a colon in a flow', 'extends: default\nclock: { mode: a: b }\n', '2:17', 'needs quotes: write mode: "…"'),
    ('a colon behind another key', 'extends: default\nclock: { mode: real, start: a: b }\n', '2:30', 'write start: "…"'),
    ('more text behind a quote', 'extends: default\ndescription: "paid", but lost\n', '2:20', 'more text follows a closed quote; put the whole text in quotes'),
    ('a deeper key', 'extends: default\npayments:\n  - name: x\n     then: y\n', '4:6', 'begin both in the same column'),
    ('a sign', 'extends: default\ndescription: @x\n', '2:14', 'a text that begins with @ needs quotes'),
    ('a star', 'extends: default\nfaults: [{ when: { path: * } }]\n', '2:26', 'a text that begins with * needs quotes'),
    ('a key beside its item', 'extends: default\npayments:\n  - name: a\n  then: b\n', '4:3', "begin it in the column of the key after its '- '"),
    ('an item to the left', 'extends: default\npayments:\n    - name: a\n  - name: b\n', '4:3', 'this line is indented unlike the lines next to it; begin all in the same column'),
    ('no blank after a colon', 'extends:default\nseed: 7\n', '1:1', 'write a space after the colon'),
    ('no blank after a dash', 'extends: default\npayments:\n  -name: a\n    then: b\n', '3:3', 'write a space after the -'),
    ('no colon', 'extends: default\npayments\n  - name: a\n', '2:1', "a colon is missing after 'payments'"),
    ('no blank after a colon of an item', 'extends: default\npayments:\n  - name:a\n    then: b\n', '3:5', 'write a space after the colon'),
    ('no colon in an item', 'extends: default\npayments:\n  - name\n    then: b\n', '3:5', "a colon is missing after 'name'"),
    ('no key', 'extends: default\nclock manual\nseed: 7\n', '2:1', 'this is not a key with its value; write key: value'),
    ('a brace too many', 'extends: default\npayments:\n  - { when: {}}, then: b }\n', '3:15', "more text follows this '}'; remove the '}', or put the whole text in quotes"),
    ('text behind a bracket', 'extends: default\ndescription: [slow] payments\n', '2:19', "more text follows this ']'; remove the ']', or put the whole text in quotes"),
    ('a brace alone', 'extends: default\npayments: []\n}\n', '3:1', "this '}' closes nothing; remove it"),
    ('no comma', 'extends: default\nclock: { mode: "real" skew: 1s }\n', '2:23', 'a comma is missing before this'),
    ('a comma too many', 'extends: default\nclock: { mode: real,, }\n', '2:21', 'a value is missing before this comma'),
    ('a brace in text within brackets', 'extends: default\npayments: [{ then: [{ sn: SN-{refid} }] }]\n', '2:30', 'within brackets, a text with { needs quotes'),
    ('a list on the line of its key', 'extends: default\npayments: - name: a\n', '2:11', "'- ' begins an item only at the start of a line; a text that begins with it needs quotes"),
    ('a comparison', 'extends: default\nseed: >100\n', '2:7', 'a text that begins with > needs quotes'),
    ('an escape that is none', 'extends: default\ndescription: "^01\\d"\n', '2:18', '\\d has no meaning in double quotes; write single quotes'),
    ('a pasted space', 'extends: default\npayments:\n  - name:\xa0a\n    then: b\n', '3:10', 'this is not an ordinary space; write one'),
    ('a brace at the end', 'payments:\n- {name: a, then: [{status: Failed}]\n', '2:3', "this '{' is never closed"),
    ('a brace above rules', 'payments:\n- {when: {product: A}, then: [{status: Failed}]\n- {then: [{status: Failed}]}\n', '2:3', "this '{' is never closed"),
    ('a brace within braces', 'payments:\n- {when: {product: A, then: [{status: Failed}]}\nseed: 1\n', '2:3', "this '{' is never closed"),
    ('a brace above keys', 'clock: {mode: manual\nseed: 1\nresellers: []\n', '1:8', "this '{' is never closed"),
    ('a bracket', 'payments: [\n  {then: [{status: Failed}]},\nseed: 1\n', '1:11', "this '[' is never closed"),
    ('a bracket closed by a brace', 'payments: [{then: [{status: Failed}}]\n', '1:36', "a ']' is missing before this"),
    ('a bracket with a comment', 'a: [1, 2  # ] here it was\nb: 3\n', '1:4', "this '[' is never closed"),
    ('a quote at the end', 'scenario: "x\nseed: 1\n', '1:11', 'this quote is never closed'),
    ('a single quote', "scenario: x\ndescription: 'it is\nseed: 1\n", '2:14', 'this quote is never closed'),
    ('a quote above quotes', 'scenario: "x\nclock: "manual"\nseed: 1\n', '1:11', 'this quote is closed only on line 2, and more text follows there'),
    ('a quote in a rule', 'payments:\n- {name: "a, then: []}\n- {name: "b", then: []}\n', '2:10', 'this quote is closed only on line 3, and more text follows there'),
    ('a list in braces', 'a: {b: 1,\n  - c}\n', '2:3', "a text that begins with it needs quotes"),
    ('a bracket below a text of two lines', 'a: "one\n  two"\nb: [\n', '3:4', "this '[' is never closed"),
    ('a brace for a value', 'a: }\n', '1:4', 'a text that begins with } needs quotes'),
    ('a colon within brackets', 'a: [b: c: d]\n', '1:9', "a text with ': ' needs quotes: write b: \"…\""),
]  # fmt: skip


@pytest.mark.parametrize("loader", [yaml_parser.LOADER, yaml.SafeLoader])
@pytest.mark.parametrize(("text", "place", "said"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_reported_at_its_place_in_words(
    text: str, place: str, said: str, loader: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_parser, "LOADER", loader)
    [problem] = problems(text)
    assert problem.startswith(f"{place}: syntax cannot be read as YAML: ")
    assert problem.endswith(said)
