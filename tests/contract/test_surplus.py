"""Sentences about what an endpoint does not read."""

import pytest

from simulator.contract import surplus


@pytest.mark.parametrize(
    ("source", "sentences"),
    [
        ("", ["a body was sent, but this endpoint reads none", "a query was sent, but this endpoint reads none"]),
        ("query", ["a body was sent, but the parameters belong in the query"]),
        ("body", ["a query was sent, but the members belong in the body"]),
        ("form", ["a query was sent, but the members belong in the body"]),
    ],
)
def test_a_part_that_is_not_read_is_named(source: str, sentences: list[str]) -> None:
    assert list(surplus.unread_parts(source, b"a=1", b"{}")) == sentences
    assert list(surplus.unread_parts(source, b"", b"")) == []


def test_only_the_first_of_many_sentences_are_made() -> None:
    sentences = map(str, range(30))
    assert list(surplus.first_of(sentences, 30, "failed")) == ["0", "1", "2", "3", "4", "and 25 more that failed"]
    assert next(sentences) == "5", "the others are not generated"


def test_a_name_that_was_sent_is_not_suggested() -> None:
    assert surplus.hint("acount", ["account"]) == "; did you mean account?"
    assert surplus.hint("acount", ["account"], ["account"]) == ""


def test_the_names_of_unknown_fields_are_not_repeated() -> None:
    sentences = list(surplus.unknown_fields("token-request", {"pasword": "1", "hunter2": "2", "username": "3"}))
    assert sentences == [
        "an unknown member was ignored; known: username, password",
        "an unknown member was ignored; did you mean password?",
    ]
    repeated = surplus.repeated_members("token-request", b'{"hunter2":1,"hunter2":2}', {"hunter2": 2}, True)
    assert list(repeated) == ["a member was sent 2 times; the last one counts"]
