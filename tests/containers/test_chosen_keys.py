"""Keys that an attacker chose so that their Python hashes are equal: found like other keys, at the same cost."""

from __future__ import annotations

import fractions
import pathlib
from typing import Any

import callgrind
import hypothesis
import hypothesis.strategies as st
import pytest

#: Python's hash of an int is the int modulo this prime.
PRIME = 2**61 - 1
#: More keys of one hash than a mapping considers to be an accident.
MANY = 100

INTS = [2**70 * PRIME + i * PRIME for i in range(MANY)]
HUGE_FLOATS = [float(2**70), float(2 ** (70 + 61)), float(2 ** (70 + 122)), -float(2 ** (70 + 61))]


def same_hash_tuples(count: int) -> list[tuple[int, int]]:
    """Return pairs of ints with equal hashes, by inverting Python's hash function for tuples."""
    prime1, prime2, start, mask = 11400714785074694791, 14029467366897019727, 2870177450012600261, 2**64 - 1
    inverse1, inverse2 = pow(prime1, -1, 2**64), pow(prime2, -1, 2**64)
    wanted = (12345 * inverse1) & mask
    wanted = (wanted >> 31 | wanted << 33) & mask
    pairs: list[tuple[int, int]] = []
    first = 0
    while len(pairs) < count:
        first += 1
        after_first = (start + first * prime2) & mask
        after_first = ((after_first << 31 | after_first >> 33) * prime1) & mask
        second = ((wanted - after_first) * inverse2) & mask
        second -= 2**64 if second >= 2**63 else 0
        if abs(second) < PRIME and second != -1:
            pairs.append((first, second))
    return pairs


TUPLES = same_hash_tuples(MANY)


def test_the_tuples_have_one_hash() -> None:
    assert len({hash(pair) for pair in TUPLES}) == 1


@pytest.mark.parametrize(
    "keys", [INTS, TUPLES, [frozenset([pair]) for pair in TUPLES]], ids=["int", "tuple", "set"]
)
def test_keys_of_one_hash_are_found(ffi: Any, keys: list[Any]) -> None:
    plain = {key: i for i, key in enumerate(keys)}
    for made in (ffi.Dict(plain), ffi.convert(plain), ffi.Dict(ffi.Map(plain))):
        assert made == plain
        assert [made[key] for key in keys] == list(range(len(keys)))
        assert list(made) == keys
        del made[keys[50]]
        assert keys[50] not in made
        made[keys[50]] = -1
        assert list(made)[-1] == keys[50]
        assert made[keys[50]] == -1
        assert made != plain
    grown = ffi.Dict()
    for i, key in enumerate(keys):
        grown[key] = i
    assert grown == plain
    assert ffi.Dict(grown) == grown
    assert hash(ffi.FrozenSet(keys)) == hash(frozenset(keys))
    assert ffi.Set(keys) == set(keys) == ffi.Set(reversed(keys))


def test_sets_of_keys_of_one_hash(ffi: Any) -> None:
    keys = TUPLES[:40]
    half, plain = ffi.FrozenSet(keys[:20]), set(keys)
    for whole in (plain, ffi.Set(keys)):
        assert half | whole == whole | half == plain
        assert half & whole == whole & half == half
        assert half ^ whole == whole - half == set(keys[20:])
        assert half < whole
        x = ffi.Set()
        for i in range(0, 40, 10):
            x |= set(keys[i : i + 10])
            assert len(x) == i + 10
        x ^= whole
        assert not x
        x.update(whole)
        x -= half
        assert x == set(keys[20:])
        x &= half
        assert not x


def test_objects_of_python_equal_native_keys(ffi: Any) -> None:
    made = ffi.Dict({key: i for i, key in enumerate(INTS)})
    for i, key in enumerate(INTS):
        assert made[fractions.Fraction(key)] == i
    assert fractions.Fraction(INTS[0] - PRIME * 1000) not in made
    opaque = fractions.Fraction(INTS[-1] + PRIME)
    made[opaque] = "opaque"
    assert made[INTS[-1] + PRIME] == "opaque"
    pairs = ffi.Dict({(key, "x"): i for i, key in enumerate(INTS)})
    assert pairs[fractions.Fraction(INTS[3]), "x"] == 3
    pairs[opaque, "x"] = "opaque"
    assert pairs[INTS[-1] + PRIME, "x"] == "opaque"


def test_floats_equal_ints(ffi: Any) -> None:
    made = ffi.Dict.fromkeys(INTS)
    for i, number in enumerate(HUGE_FLOATS):
        made[number] = i
    for i, number in enumerate(HUGE_FLOATS):
        assert made[int(number)] == made[number] == made[complex(number)] == i
    assert len(made) == len(INTS) + len(HUGE_FLOATS)


KEYS = st.one_of(
    st.sampled_from(INTS),
    st.sampled_from(TUPLES),
    st.sampled_from(HUGE_FLOATS),
    st.sampled_from([int(number) for number in HUGE_FLOATS]),
    st.sampled_from(INTS).map(fractions.Fraction),
    st.sampled_from(INTS).map(lambda key: (fractions.Fraction(key),)),
    st.sampled_from(INTS).map(lambda key: (key,)),
    st.integers(-3, 3),
    st.sampled_from(["a", "b" * 20, 1.5, None, 1j, complex(2**80)]),
)


@hypothesis.given(st.lists(st.tuples(st.sampled_from(["set", "delete", "get"]), KEYS)))
def test_a_dict_with_chosen_keys_does_as_a_dict(ffi: Any, steps: list[tuple[str, Any]]) -> None:
    plain: dict[Any, Any] = dict.fromkeys(INTS[:40])
    made = ffi.Dict(plain)
    for number, (step, key) in enumerate(steps):
        if step == "set":
            plain[key] = made[key] = number
        elif step == "delete":
            assert made.pop(key, "absent") == plain.pop(key, "absent")
        else:
            assert made.get(key, "absent") == plain.get(key, "absent")
    assert list(made.items()) == list(plain.items())
    assert made == plain


PROGRAM = """
import gc, os
import anyffi
prime = 2**61 - 1
count = 2000
harmless = dict.fromkeys(2**70 + i for i in range(count))
chosen = dict.fromkeys(2**70 * prime + i * prime for i in range(count))
spread = dict.fromkeys(i * 7919 for i in range(count))
steps = dict.fromkeys(i * 12586269025 for i in range(count))
shifted = dict.fromkeys(i << 40 for i in range(count))
texts = dict.fromkeys("%08x%08x%08x" % (i * 7919, i, i * 104729) for i in range(count))
common = dict.fromkeys("%08xcommon12%08x" % (i, i * 7919) for i in range(count))
gc.disable()
os.getloadavg()
for keys in (harmless, chosen, spread, steps, shifted, texts, common):
    anyffi.convert(keys)
    os.getloadavg()
"""


@pytest.mark.slow("callgrind")
def test_chosen_keys_cost_no_more_than_others(ffi: Any, tmp_path: pathlib.Path) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the index is the runtime's: one mode is enough")
    parts = callgrind.run_parts(tmp_path, PROGRAM, ffi_mode="cython")
    harmless, chosen, spread, steps, shifted, texts, common = map(callgrind.instructions, parts)
    assert chosen < 3 * harmless
    assert steps < 3 * spread
    assert shifted < 3 * spread
    assert common < 3 * texts


OPERATORS = """
import gc, os
import anyffi
harmless = [(i, i + 1) for i in range(2000)]
chosen = {chosen}
gc.disable()
os.getloadavg()
for keys in (harmless, chosen):
    x, y = anyffi.Set(), anyffi.Set()
    for i in range(0, 2000, 20):
        part = set(keys[i : i + 20])
        x |= anyffi.Set(part)
        y ^= part
    x = anyffi.Set(part) | x
    os.getloadavg()
"""


@pytest.mark.slow("callgrind")
def test_operators_with_chosen_keys_cost_no_more_than_others(ffi: Any, tmp_path: pathlib.Path) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the index is the runtime's: one mode is enough")
    program = OPERATORS.format(chosen=same_hash_tuples(2000))
    harmless, chosen = map(callgrind.instructions, callgrind.run_parts(tmp_path, program, ffi_mode="cython"))
    assert chosen < 4 * harmless
