"""Requests that were captured twice count once in a watch too, whatever leaves its windows."""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import also_long
from tagged_captures import capture
from test_windows import OPTIONS, SECOND, watched
from translated_captures import PROXIES, TRANSLATED, passing

from analyzer.inputs.live import feeds
from analyzer.run import local
from analyzer.watch import live_session

SUMS = ("requests", "answered", "request_bytes", "response_bytes")


@pytest.mark.slow
@pytest.mark.parametrize("name", also_long(["proxy"], ["dnat", "both", "two_proxies"]))
def test_the_sums_are_those_of_a_report(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "WRITER_S", 0)
    monkeypatch.setattr(live_session, "REST", 0)
    path = capture(tmp_path / "base.pcap", passing({**TRANSLATED, **PROXIES}[name], 20_000))
    with (
        watched(path, tmp_path, 200 * SECOND, 4) as (session, answers),
        local.open_dataset([str(path)], OPTIONS) as whole,
    ):
        assert not session._analyst.windows.is_whole, "no window has left: this test shows nothing"
        expected = whole.metric("coverage")[0]
        with session.facts() as facts:
            covered = facts.coverage()
        assert {key: covered[key] for key in SUMS} == {key: expected[key] for key in SUMS}
        assert answers[-1].run["requests"] == expected["requests"]
