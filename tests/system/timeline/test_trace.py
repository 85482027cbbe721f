"""The timeline, read by Perfetto's own messages: slices nest, carry every request with a reply, and arrows have two ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.run.local import open_dataset
from analyzer.timeline import request_tracks

perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="no perfetto")


@pytest.mark.parametrize("name", ["throttle", "groups_classic"])
def test_perfetto_reads_every_request(name: str, samples: Path, tmp_path: Path) -> None:
    capture = samples / f"{name}.pcap.zst"
    out = tmp_path / "x.perfetto"
    assert main(["trace", str(capture), "-o", str(out)]) == 0
    trace = perfetto.Trace()
    trace.ParseFromString(out.read_bytes())
    # All that was written is in the schema.
    written = trace.ByteSize()
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == written == out.stat().st_size
    tracks, open_slices, outer = {}, defaultdict[int, list[Any]](list), []
    flows, ends = Counter[int](), Counter[int]()
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = open_slices[event.track_uuid]
        flows.update(event.flow_ids)
        ends.update(event.terminating_flow_ids)
        if event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid in tracks
            if stack:
                assert packet.timestamp >= stack[-1][0]
            stack.append((packet.timestamp, event))
        else:
            begins, begun = stack.pop()
            assert packet.timestamp >= begins
            if not stack:
                about = {each.name: each.string_value or each.int_value for each in begun.debug_annotations}
                outer.append((about["exchange"], begun.name, packet.timestamp - begins))
    assert not any(open_slices.values())
    assert all(track.parent_uuid in tracks for track in tracks.values() if track.HasField("parent_uuid"))
    with open_dataset([str(capture)], Options(), None) as found:
        rows = found.query(
            "SELECT exchange, total_ns FROM exchanges WHERE request_time_ns IS NOT NULL AND total_ns IS NOT NULL"
        )
    lengths = {exchange: length for exchange, _, length in outer}
    assert {f"{row['exchange']:016x}": row["total_ns"] for row in rows}.items() <= lengths.items()
    assert flows and set(flows) == set(ends)


def test_more_than_a_browser_holds_is_refused(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(request_tracks, "MOST_REQUESTS", 10)
    out = tmp_path / "x.perfetto"
    assert main(["trace", str(samples / "throttle.pcap.zst"), "-o", str(out)]) == 2
    assert "more than a browser can show" in capsys.readouterr().err
    assert not out.exists()
