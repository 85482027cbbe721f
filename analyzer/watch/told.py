"""What the reader tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.ingest.summary import Summary
    from analyzer.inputs.live.live_engine import Gone
    from analyzer.inputs.readings import Reading


@dataclass(frozen=True, slots=True)
class Pulse:
    """Where reading is. Counts are since the beginning: `segments` of TCP, `bytes` of the captures, `requests` that have ended.
    `latest_ns` is the time of the newest packet; `waiting_bytes` are there and not read yet; `lost_files` and `lost_bytes` were
    written over by a ring before they were read; `is_full`: a pipe had to wait. `read_ns` is the time by the clock of this
    machine at which this was so; `trouble` why nothing is recorded, None: it is, or need not be."""

    segments: int = 0
    bytes: int = 0
    requests: int = 0
    latest_ns: int | None = None
    waiting_bytes: int = 0
    lost_files: int = 0
    lost_bytes: int = 0
    is_full: bool = False
    read_ns: int = 0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """What a fork of the reader found when it ended: the rows of what had not ended lie in `folder`."""

    folder: Path
    readings: list[Reading]
    summary: Summary
    gone: Gone


@dataclass(frozen=True, slots=True)
class Cut:
    """A window that was completed, and what was open then. `rows`: raw table -> rows of the window; `is_last`: nothing will
    follow."""

    number: int
    folder: Path
    rows: Counter[str]
    begin_ns: int | None
    end_ns: int | None
    live: Live
    pulse: Pulse
    is_last: bool = False
    seconds: float = field(default=0.0)
