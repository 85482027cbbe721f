"""Places where one of many strings may begin: all that do are found."""

from __future__ import annotations

from random import Random

import pytest

from dissectors.byte_search import ByteSearch


def test_every_place_is_found() -> None:
    chance = Random("search")
    data = bytearray(chance.randbytes(20_000))
    strings = [chance.randbytes(8) for _ in range(50)]
    places = sorted(chance.sample(range(0, 19_900, 10), 50))
    search = ByteSearch()
    for place, each in zip(places, strings, strict=True):
        data[place : place + 8] = each
        search.add(each)
    found = search.find(data)
    assert set(places) <= set(found) and found == sorted(found)
    # A place where nothing begins is rare: 50 of 2^24 hashes are taken.
    assert len(found) <= len(places) + 5


def test_what_is_shorter_than_a_window_has_no_place() -> None:
    search = ByteSearch()
    search.add(b"12345678 and more")
    assert search.find(b"1234567") == [] and search.find(b"12345678") == [0] and search.find(b"") == []
    with pytest.raises(IndexError):
        search.add(b"1234567")
