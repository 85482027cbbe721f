"""What a run is asked to do: limits, ports, filters. Plain values that travel to worker processes unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from analyzer.base.filters import Filters

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """All that a command line may ask of a run.

    `ports` are the brokers' ports; empty means: find Kafka by content. Of a frame longer than `max_frame_bytes` the
    head is kept and the rest passed over. `temp_dir` None is the system's. `tables` names the tables that are wanted;
    None means all of them. `taps` are pairs of a name and a glob of inputs: where these were captured. Bytes that
    arrive out of order are waited for until so many packets of their connection *and* so much time have passed behind
    the ACK for them. `tls_key_logs` are files with the secrets of TLS sessions. `jobs` processes share the connections of
    a large capture, or its bytes when it lies in object storage; more than one is for programs without threads of their own
    (`analyzer.base.workers`). Not `seldom`: columns of exchanges that a large capture's report never reads, a third of
    them, may be left out; a question that reads one of them fails.
    """

    ports: tuple[int, ...] = ()
    max_frame_bytes: int = 128 * MIB
    max_connections: int = 100_000
    max_reassembly_bytes: int = 256 * MIB
    temp_dir: Path | None = None
    filters: Filters = field(default_factory=Filters)
    tables: tuple[str, ...] | None = None
    taps: tuple[tuple[str, str], ...] = ()
    reorder_packets: int = 64
    reorder_ns: int = 20_000_000
    tls_key_logs: tuple[Path, ...] = ()
    jobs: int = 1
    seldom: bool = True

    @property
    def with_facts(self) -> bool:
        """Is anything wanted of what bodies tell of clusters and clients? A second pass for bodies alone wants nothing."""
        return self.tables is None or bool(self.tables)

    def wants(self, *tables: str) -> bool:
        """Is one of these large tables wanted?"""
        return self.tables is None or any(table in self.tables for table in tables)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Tables that cost something of their own, and that nobody wants."""
        together = (("group_events", "assignments"), ("transaction_events",), ("batches",))
        return tuple(table for tables in together if not self.wants(*tables) for table in tables)

    @property
    def with_entries(self) -> bool:
        """Are rows of `entries` wanted, which cost more than all others? A filter by topic reads them too."""
        return self.wants("entries", "batches", "fetch_positions") or bool(self.filters.topics)
