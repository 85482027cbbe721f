"""The state of a connection: how much of it an idle one needs."""

from __future__ import annotations

from dissectors import layout
from dissectors.tcp import state_columns as columns


def test_an_idle_connection_needs_the_first_groups_only() -> None:
    """The sizes that the head of `state_columns` tells: they may shrink, and then it tells the new ones."""
    connection, side = 8 * columns.CONN_SECOND_GROUP, 8 * columns.SIDE_SECOND_GROUP
    whole_connection, whole_side = 8 * columns.CONN_COLUMNS, 8 * columns.SIDE_COLUMNS
    assert (connection, side, connection + 2 * side) == (176, 584, 1344)
    assert (whole_connection, whole_side, whole_connection + 2 * whole_side) == (336, 728, 1792)
    assert columns.__doc__
    assert " 1344 " in columns.__doc__ and " 1792\n" in columns.__doc__


def test_counts_of_a_side_are_in_the_order_of_the_pairs_of_a_part() -> None:
    """They are copied by position: to the part's row and to checkpoints."""
    names = ("PACKETS", "BYTES", "STREAM", "RETRANSMITTED", "REORDERED")
    names += ("GAPS", "GAP_BYTES", "CONFLICTS", "ZERO_WINDOW", "DUPLICATES", "DAMAGED", "DATA_PACKETS", "QUEUED")
    names += ("LATE", "IP_STEPS", "IP_JUMPS", "FULL_WINDOW", "FULL_WINDOW_NS", "NAGLE", "NEEDLESS")
    names += ("PACED", "PACED_NS", "WIRE", "WAYS")
    assert len(names) + layout.WAY_STEPS - 1 == layout.PART_COUNTS
    for place, name in enumerate(names):
        assert getattr(columns, f"SIDE_{name}") == columns.SIDE_COUNTS + place
        assert getattr(layout, f"PART_{name}") == layout.PART_PACKETS + 2 * place
