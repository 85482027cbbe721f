"""What was looked for is known, as a set would know it."""

from __future__ import annotations

from random import Random

import pytest

from analyzer.redact import needles


def test_known_as_a_set_would_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needles, "MOST_REMEMBERED", 50)
    chance, known, like = Random(1), needles.Known(), set[bytes]()
    for _ in range(5_000):
        needle = chance.randrange(120).to_bytes(8, "big")
        is_new = needle not in like
        assert known.is_new(needle) == is_new
        if is_new and len(like) == 50:
            like.clear()
        like.add(needle)
