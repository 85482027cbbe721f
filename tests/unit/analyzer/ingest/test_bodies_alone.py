"""A pass for bodies alone, which wants no table, writes none."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.inputs.expansion import expand
from analyzer.run.one_pass import read_captures


@pytest.mark.parametrize("tables", [(), None])
def test_frames_without_tables(tables: tuple[str, ...] | None, tmp_path: Path) -> None:
    frames: list[int] = []
    sources = expand([str(min(SAMPLES.glob("*.pcap*")))]).sources
    read_captures(sources, tmp_path, Options(tables=tables), hook=lambda _, rows, *__: frames.append(rows))
    assert sum(frames) > 0
    assert any(tmp_path.iterdir()) == (tables is None)
