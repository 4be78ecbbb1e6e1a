"""People drawn from the pools: equal seeds and identities give equal people."""

from simulator.domain.model.bills import NamePool, PersonPools
from tests.support.worlds import PEOPLE

SOME = [str(number) for number in range(400)]


def test_the_seed_and_the_identity_determine_the_person() -> None:
    def person(seed: int, identity: str) -> tuple[str, str, str]:
        return PEOPLE.name(seed, identity), PEOPLE.address(seed, identity), PEOPLE.ic_number(seed, identity)

    first = [person(1, identity) for identity in SOME]
    assert first == [person(1, identity) for identity in SOME]
    assert first != [person(2, identity) for identity in SOME]
    assert len({ic_number for _, _, ic_number in first}) > 390


def test_every_person_of_the_pools_is_drawn_and_a_name_is_in_a_single_language() -> None:
    names = {PEOPLE.name(1, identity) for identity in SOME}
    assert names == {f"{given} {family}" for pool in PEOPLE.names for given in pool.given for family in pool.family}
    assert {PEOPLE.address(1, identity) for identity in SOME} == {
        f"{street}, {town}" for street in PEOPLE.streets for town in PEOPLE.towns
    }


def test_an_identity_number_is_a_birth_from_the_pool_and_four_digits() -> None:
    born = PersonPools((NamePool(("A",), ("B",)),), ("S",), ("T",), ("90010114",))
    number = born.ic_number(1, "x")
    assert (number[:8], len(number), number.isdecimal()) == ("90010114", 12, True)
