"""The list of servers: what it may be, and what is said of a wrong one."""

from pathlib import Path

import pytest

from simulator.shards.ring import number_of
from simulator.shards.servers import FILE_BYTES_MAX, SERVERS_MAX, BadServers, Server, from_file, from_words


def test_servers_are_named_by_words_and_sorted_by_their_names() -> None:
    found = from_words(["b=http://127.0.0.1:8082", "a=http://sim.internal/", "c=http://[::1]:8083"])
    assert found == (
        Server("a", "sim.internal", 80),
        Server("b", "127.0.0.1", 8082),
        Server("c", "::1", 8083),
    )
    assert [one.url for one in found] == ["http://sim.internal:80", "http://127.0.0.1:8082", "http://[::1]:8083"]


def test_servers_are_listed_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "shards.yaml"
    file.write_text("servers:\n  b: http://127.0.0.1:8082\n  1: http://127.0.0.1:8081\n")
    assert from_words([str(file)]) == from_file(file)
    assert [one.name for one in from_file(file)] == ["1", "b"]


WRONG_WORDS = [
    (["a=http://h:1", "a=http://h:2"], "the name a appears twice"),
    (["a=http://h:1", "b=http://H:1"], "a and b have the same address, http://h:1"),
    (["a=http://h", "b=http://h:80"], "a and b have the same address, http://h:80"),
    (["=http://h:1"], "'' cannot be the name of a server; use 1 to 32 letters"),
    (["a b=http://h:1"], "'a b' cannot be the name of a server"),
    (["-a=http://h:1"], "'-a' cannot be the name of a server"),
    ([f"{'a' * 33}=http://h:1"], "cannot be the name of a server"),
    (["a=http://h:1/sim"], "'http://h:1/sim' has more than host and port"),
    (["a=http://h:1?x=1"], "has more than host and port"),
    (["a=http://h:1#x"], "has more than host and port"),
    (["a=http://user:pw@h:1"], "has more than host and port"),
    (["a=https://h:1"], "is no address of a server; use one such as http://127.0.0.1:8081"),
    (["a=h:1"], "is no address of a server"),
    (["a="], "'' is no address of a server"),
    (["a=http://h\nserver x"], "is no address of a server"),
    (["a=http://h:1 check"], "is no address"),
    (["a=http://h:99999"], "is no address"),
    (["a=http://h:x"], "is no address"),
    (["a=http://[::1"], "is no address"),
    (["a=http://h:0"], "has the port 0"),
    (["a=http://h:1", "b"], "'b' is not NAME=URL; name one file"),
]


@pytest.mark.parametrize(("words", "said"), WRONG_WORDS)
def test_a_wrong_word_is_refused_with_the_reason(words: list[str], said: str) -> None:
    with pytest.raises(BadServers) as refused:
        from_words(words)
    assert said in str(refused.value)


def test_names_with_the_same_places_are_refused() -> None:
    seen: dict[int, str] = {}
    name = next(f"s{n}" for n in range(10_000) if seen.setdefault(number_of(f"s{n}"), f"s{n}") != f"s{n}")
    with pytest.raises(BadServers, match="would have the same places on the ring; rename one of them"):
        from_words([f"{seen[number_of(name)]}=http://h:1", f"{name}=http://h:2"])


WRONG_FILES = [
    ("", ": the file is a mapping"),
    ("[]", ": the file is a mapping"),
    ("servers: {}", "there is no server in the list"),
    ("servers: [http://h:1]", ": `servers` is a mapping"),
    ("servers:\n  a: http://h:1\n  a: http://h:2\n", ":3: the name a appears twice"),
    ("servers:\n  a: http://h:1\n  b: http://h:1\n", ":3: a and b have the same address"),
    ("servers:\n  a: {url: http://h:1}\n", ":2: the address of 'a' is a text"),
    ("servers:\n  a:\n", ":2: '' is no address"),
    ("servers:\n  [a]: http://h:1\n", ": a name is a text"),
    ("servers: {a: http://h:1}\nmore: 1\n", ": it has a single member, `servers`"),
    ("servers: {a: http://h:1}\nservers: {b: http://h:2}\n", ": it has a single member, `servers`"),
    ("servers: {a: http://h:1\n", ": this is not YAML: "),
    ("servers: *a\n", ": this is not YAML: "),
    ("a: 1\n---\nb: 2\n", ": this is not YAML: "),
    ("\x00", ": this is not YAML: "),
    (" " * (FILE_BYTES_MAX + 1), ": it has more than 256 KiB"),
    ("servers:\n" + "".join(f"  s{n}: http://h:{n}\n" for n in range(1, 200)), None),
]


@pytest.mark.parametrize(("text", "said"), WRONG_FILES)
def test_a_wrong_file_is_refused_with_its_line(text: str, said: str | None, tmp_path: Path) -> None:
    file = tmp_path / "shards.yaml"
    file.write_text(text)
    if said is None:
        assert len(from_file(file)) == 199
        return
    with pytest.raises(BadServers) as refused:
        from_file(file)
    assert said in str(refused.value)


def test_a_list_is_bounded() -> None:
    free: dict[int, str] = {}
    for n in range(20_000):
        free.setdefault(number_of(f"s{n}"), f"s{n}")
    words = [f"{name}=http://h:{port}" for port, name in enumerate(list(free.values())[: SERVERS_MAX + 1], 1)]
    assert len(from_words(words[:SERVERS_MAX])) == SERVERS_MAX
    with pytest.raises(BadServers, match="there are more than 1000 servers"):
        from_words(words)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadServers, match=r"none\.yaml: No such file or directory"):
        from_words([str(tmp_path / "none.yaml")])
