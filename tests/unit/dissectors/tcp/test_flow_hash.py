"""The hash of a flow: equal for both directions, different for neighbours."""

from __future__ import annotations

from array import array
from types import ModuleType

import pytest
from plain_stages import plain_stage

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tcp import reassembly

End = tuple[int, int, int]  # high and low half of an address, port
BROKER = (0, 0xFFFF_0AFF_0001, 9092)


@pytest.fixture(params=["built", "plain"])
def stage(request: pytest.FixtureRequest) -> ModuleType:
    return reassembly if request.param == "built" else plain_stage("dissectors.tcp.reassembly")


def hashes(stage: ModuleType, flows: list[tuple[End, End]]) -> list[int]:
    segments = new_matrix(layout.SEGMENT_COLUMNS, len(flows))
    for row, (source, target) in enumerate(flows):
        for columns, values in (
            ((layout.SEGMENT_SRC_HIGH, layout.SEGMENT_SRC_LOW, layout.SEGMENT_SRC_PORT), source),
            ((layout.SEGMENT_DST_HIGH, layout.SEGMENT_DST_LOW, layout.SEGMENT_DST_PORT), target),
        ):
            for column, value in zip(columns, values, strict=True):
                segments[column, row] = value
    found = array("q", bytes(8 * len(flows)))
    stage.flows(segments, 0, len(flows), found)
    return list(found)


@pytest.mark.parametrize("six", [False, True])
def test_neighbours_have_different_hashes(stage: ModuleType, six: bool) -> None:
    """Clients whose addresses and ports are counted up, as in one network."""
    high, low = (0x2001_0DB8 << 32, 1) if six else (0, 0xFFFF_0A00_0000)
    clients = [(high, low + host, 1024 + port) for host in range(60) for port in range(100)]
    found = hashes(stage, [(client, BROKER) for client in clients])
    assert len(set(found)) == len(clients)
    assert all(each >= 0 for each in found)


def test_both_directions_have_one_hash(stage: ModuleType) -> None:
    client = (0, 0xFFFF_0A00_0001, 50_000)
    one, other, turned = hashes(
        stage, [(client, BROKER), (BROKER, client), ((*client[:2], 9092), (*BROKER[:2], 50_000))]
    )
    assert one == other != turned
