"""The message that a packet belongs to is looked for among those of its own capture point."""

from __future__ import annotations

import pytest
from paths import ROOT

from analyzer.base.options import Options
from analyzer.messages import packet_search
from analyzer.messages.packet_search import Place, passing_in
from analyzer.run.local import open_dataset


def test_a_packet_is_part_of_a_message_of_its_own_capture_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run seen by the switch and beside a client: its clock might be another, so that a time means another message."""
    paths = [str(ROOT / "tests/data/incidents" / f"broker_killed{end}.pcap.zst") for end in ("", "_client")]
    options = Options(taps=(("switch", paths[0]), ("client", paths[1])))
    with open_dataset(paths, options) as dataset:
        (row,) = dataset.query(
            "SELECT * FROM exchanges WHERE response_end_ns > response_time_ns AND response_file IS NOT NULL "
            "ORDER BY response_end_ns - response_time_ns DESC, exchange LIMIT 1"
        )
        addresses = (row["broker_address"], row["broker_port"], row["client_address"], row["client_port"])
        seen = packet_search._Segment(*addresses, row["response_end_ns"])
        monkeypatch.setattr(packet_search, "_segment", lambda *_: seen)
        own, other = row["response_file"], 1 - row["response_file"]
        assert row["exchange"] in passing_in(dataset, paths, options, Place(own, row["response_packet"] + 1))
        assert row["exchange"] not in passing_in(dataset, paths, options, Place(other, 1))
