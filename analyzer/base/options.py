"""The options of a run: limits, ports, filters. Plain values, which can be sent to worker processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from analyzer.base.filters import Filters

MIB = 1 << 20
# API keys.
PRODUCE, FETCH, LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH, TXN_OFFSET_COMMIT, SHARE_FETCH = 0, 1, 2, 8, 9, 28, 78
CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS = 19, 20, 21


@dataclass(frozen=True, slots=True)
class Options:
    """All options of a command line that are about a run.

    `ports` are the brokers' ports; empty means that Kafka is found by content. Of a frame longer than `max_frame_bytes` only
    the head is read. At most `max_connections` are followed at a time, None means what the machine can spare. `temp_dir` None
    is the system's. `tables` names the tables that are wanted, None means all.
    `taps` are pairs of the name of a capture point and a glob of inputs that were captured there. A hole is waited for until
    `reorder_packets` packets of the connection *and* `reorder_ns` have passed since an ACK for it. `tls_key_logs` are
    files with the secrets of TLS sessions, `request_logs` the brokers' own logs of requests, `names` files with names of addresses
    (`analyzer.names`). `decode_as` are pairs of a UDP port and the name of the tunnel that has it, one of
    `dissectors.packet.udp_ports.TUNNELS`. Questions may take `memory_bytes`, None means what the machine can spare
    (`analyzer.base.memory`). `jobs` processes share the connections of a large capture, or its bytes when it
    lies in object storage; more than one is for programs without threads of their own (`analyzer.base.workers`). Without
    `seldom`, what no section or rule of the report reads may be left out: columns of exchanges, entries and batches, and
    entries of most APIs. A question that reads one of these columns fails. With `numbered`, texts that repeat may be of an ENUM
    type in tables of a large capture (`analyzer.run.repeated_texts`): where nobody but we asks them. With `unsafe_sql` a SELECT
    that a person wrote may read any file of this machine, else those of the tables alone.
    """

    ports: tuple[int, ...] = ()
    max_frame_bytes: int = 128 * MIB
    max_connections: int | None = None
    max_reassembly_bytes: int = 256 * MIB
    temp_dir: Path | None = None
    filters: Filters = field(default_factory=Filters)
    tables: tuple[str, ...] | None = None
    taps: tuple[tuple[str, str], ...] = ()
    reorder_packets: int = 64
    reorder_ns: int = 20_000_000
    tls_key_logs: tuple[Path, ...] = ()
    request_logs: tuple[Path, ...] = ()
    names: tuple[Path, ...] = ()
    decode_as: tuple[tuple[int, str], ...] = ()
    memory_bytes: int | None = None
    jobs: int = 1
    seldom: bool = True
    numbered: bool = False
    unsafe_sql: bool = False

    @property
    def with_facts(self) -> bool:
        """Whether any table is wanted, and so facts of clusters and clients. A second pass for bodies wants no table."""
        return self.tables is None or bool(self.tables)

    def wants(self, *tables: str) -> bool:
        """Whether one of these large tables is wanted."""
        return self.tables is None or any(table in self.tables for table in tables)

    @property
    def entries_of(self) -> frozenset[tuple[int, str]] | None:
        """The messages whose entries are read: API key, and request or response; None means all.

        Those of Fetch are always needed, as they tell what a Fetch waited for. Rows of batches get their offsets from those of
        Produce; where a consumer went on after an offset out of range is told by ListOffsets, who had its records
        deleted by DeleteRecords, which offsets a group had by OffsetFetch and what it committed by requests (of replies the
        errors tell the rest), and which topics are new or gone on request by CreateTopics and DeleteTopics. The others cost
        more than all else.
        """
        if self.filters.topics or (self.seldom and self.wants("entries")):
            return None
        both = [FETCH]
        if self.wants("entries", "batches", "fetch_positions"):
            both += [PRODUCE, SHARE_FETCH]
        requests = []
        if self.wants("entries"):
            both += [LIST_OFFSETS, OFFSET_FETCH, CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS]
            requests = [OFFSET_COMMIT, TXN_OFFSET_COMMIT]
        return frozenset([(key, "request") for key in both + requests] + [(key, "response") for key in both])
