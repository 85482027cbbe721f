"""What a run is asked to do: limits, ports, filters. Plain values that travel to worker processes unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from analyzer.filters import Filters

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """All that a command line may ask of a run.

    `ports` are the brokers' ports; empty means: find Kafka by content. Of a frame longer than `max_frame_bytes` the
    head is kept and the rest passed over. `temp_dir` None is the system's. `tables` names the tables that are wanted;
    None means all of them.
    """

    ports: tuple[int, ...] = ()
    max_frame_bytes: int = 128 * MIB
    max_connections: int = 100_000
    max_reassembly_bytes: int = 256 * MIB
    temp_dir: Path | None = None
    filters: Filters = field(default_factory=Filters)
    tables: tuple[str, ...] | None = None

    @property
    def with_entries(self) -> bool:
        """Are rows of `entries` wanted, which cost more than all others? A filter by topic reads them too."""
        return self.tables is None or "entries" in self.tables or bool(self.filters.topics)
