"""Seeds of the lab: what they draw, where they capture, and captures that lack packets."""

from __future__ import annotations

import itertools
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from unittest.mock import MagicMock

import pytest

from lab.score import names
from lab.seeds import of_groups, of_newer
from lab.seeds.__main__ import KINDS
from lab.seeds.causes import CAUSES, draw
from lab.seeds.scene import Scene
from lab.seeds.thin import thinned
from lab.wire import Habits

_ROUNDS = 4
_SEEDS = range(len(CAUSES) * _ROUNDS)


def test_a_seed_means_the_same_every_time() -> None:
    assert [draw(seed) for seed in _SEEDS] == [draw(seed) for seed in _SEEDS]


@pytest.mark.parametrize("number", range(_ROUNDS))
def test_each_round_has_each_cause_once(number: int) -> None:
    drawn = [draw(number * len(CAUSES) + at).cause for at in range(len(CAUSES))]
    assert sorted(drawn) == sorted(CAUSES)


def test_rounds_and_seeds_differ() -> None:
    drawn = [draw(seed) for seed in _SEEDS]
    for name in ("library", "version", "place", "at_client", "late", "snap", "lost"):
        assert len({getattr(each, name) for each in drawn}) > 1, name
    assert [each.cause for each in drawn[: len(CAUSES)]] != [
        each.cause for each in drawn[len(CAUSES) : 2 * len(CAUSES)]
    ]


def test_strengths_stay_in_their_bounds() -> None:
    for each in map(draw, _SEEDS):
        assert CAUSES[each.cause].weakest <= each.strength <= CAUSES[each.cause].strongest


def test_some_of_what_is_swept_lies_below_what_must_be_told() -> None:
    for each in CAUSES.values():
        assert each.least < each.strongest, each.name


def test_every_kind_has_causes() -> None:
    homes = {each.do.__module__ for each in CAUSES.values()}
    assert homes == {kind.__name__ for kind in KINDS}


def test_no_seed_names_another() -> None:
    """A topic of a seed is no word of another's, so that a subject cannot be named by chance."""
    topics = [draw(seed).topic for seed in _SEEDS]
    assert not any(names(topic, other) for topic in topics[:40] for other in topics if topic != other)


@pytest.mark.parametrize(("lost", "least", "most"), [(0.0, 1000, 1000), (0.1, 850, 950), (1.0, 0, 0)])
def test_a_thinned_capture_has_whole_packets(lost: float, least: int, most: int) -> None:
    packets = [struct.pack("<IIII", at, 0, at % 7, at % 7) + bytes(at % 7) for at in range(1000)]
    data = b"H" * 24 + b"".join(packets)
    got = thinned(data, lost, seed=1)
    left, count = got[24:], 0
    for packet in packets:
        if left.startswith(packet):
            left, count = left[len(packet) :], count + 1
    assert (got[:24], left) == (b"H" * 24, b"")
    assert least <= count <= most


class _Stage:
    """A scene without brokers that remembers on which machines clients begin, and beside which one the capture is taken."""

    def __init__(self, name: str, folder: Path) -> None:
        self.drawn = next(drawn for drawn in map(draw, _SEEDS) if drawn.cause == name)
        self.s, self.name, self.topic = self.drawn.strength, self.drawn.name, self.drawn.topic
        self.chance, self.shop = random.Random(name), dict[int, MagicMock]()
        self.lab, self.brokers = (
            MagicMock(folder=folder),
            [MagicMock(number=number, data=folder) for number in (1, 2, 3)],
        )
        self.lab.brokers = [*self.brokers, MagicMock(number=100)]
        self.broker = self.brokers[0]
        self.broker.server_log.return_value = ""
        self.lab.start.side_effect = self.write = self.read = self._begins
        self.beside: list[MagicMock] = []
        self.busy: list[MagicMock] = []

    def _begins(self, host: MagicMock, *_: object, **__: object) -> MagicMock:
        self.busy.append(host)
        return MagicMock()

    def host(self) -> MagicMock:
        return MagicMock()

    def machine(self, **_: object) -> MagicMock:
        return self.host()

    def make(self, **_: object) -> None:
        """No topic is needed here."""

    def wire(self, _: Habits) -> MagicMock:
        return MagicMock(host=self.host())

    def who(self, host: MagicMock) -> list[str]:
        return [str(host.address)]

    def cut(self, *_: str) -> list[str]:
        return []

    @contextmanager
    def captured(self, host: MagicMock, *clients: Callable[[], object]) -> Iterator[None]:
        self.beside.append(host)
        for begin in clients:
            begin()
        yield


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_a_client_works_where_the_capture_is_taken(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, clock = _Stage(name, tmp_path), itertools.count()
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(of_newer, "until_said", lambda *_: None)
    monkeypatch.setattr(of_newer, "word_count", lambda _, host, *__: stage.busy.append(host))
    monkeypatch.setattr(of_groups, "java_consume", lambda _, host, *__, **___: stage.busy.append(host))
    CAUSES[name].do(cast(Scene, stage))
    assert len(stage.beside) == 1
    assert stage.beside[0] in stage.busy
