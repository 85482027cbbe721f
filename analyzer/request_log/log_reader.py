"""Request logs of brokers -> the raw table `raw_log_requests`, a block and a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.base.text import file_text, input_name
from analyzer.inputs.sources import InputError, Source
from analyzer.request_log.log_lines import LineReader, NotARequest, Unreadable

COLUMNS = {
    "log": "int32",
    "line": "int64",
    "logged_ns": "int64",
    "broker_address": "string",
    "broker_port": "int32",
    "client_address": "string",
    "client_port": "int32",
    "api_key": "int16",
    "api_name": "string",
    "api_version": "int16",
    "correlation_id": "int32",
    "client_id": "string",
    "is_forwarded": "bool",
    "total_ns": "int64",
    "queue_ns": "int64",
    "local_ns": "int64",
    "remote_ns": "int64",
    "throttle_ns": "int64",
    "response_queue_ns": "int64",
    "send_ns": "int64",
    "security_protocol": "string",
    "principal": "string",
    "listener": "string",
    "topic": "string",
}
# A line has the bodies of request and reply: those of a large Fetch have some megabytes.
LONGEST_LINE = 64 << 20
ROWS_AT_A_TIME = 4_096


@dataclass(slots=True)
class LogFile:
    """What was read of one log. `unreadable` lines begin as requests, the first of them is line `first_unreadable`; `failure` is a
    line for a person: the log could not be read, or not to its end."""

    path: str
    requests: int = 0
    unreadable: int = 0
    first_unreadable: int = 0
    failure: str | None = None

    def note_unreadable(self, line: int) -> None:
        """A line begins as a request, and cannot be read."""
        self.unreadable += 1
        self.first_unreadable = self.first_unreadable or line

    def warnings(self) -> Iterator[str]:
        """A line for a person for each thing that was not read."""
        name = file_text(self.path)
        if self.failure:
            yield self.failure
        if self.unreadable:
            many = "1 line is" if self.unreadable == 1 else f"{self.unreadable:,} lines are"
            first = f"(first: line {self.first_unreadable:,})"
            rest = "the others count" if self.requests else "nothing else is in it; copy the log again"
            yield f"{name}: {many} no request of a broker that can be read {first}; {rest}"
        if not self.requests and not self.unreadable and not self.failure:
            yield (
                f"{name}: no request of a broker is in it. Expected are lines of kafka.request.logger at level DEBUG: "
                '"Completed request:..."'
            )


def read_logs(paths: Sequence[Path], target: Path) -> list[LogFile]:
    """Reads request logs into the Parquet file `target`; what cannot be read is said in what is returned."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
    files = [LogFile(input_name(str(path))) for path in paths]
    with pq.ParquetWriter(target, schema, compression="lz4") as writer:
        for number, (path, file) in enumerate(zip(paths, files, strict=True)):
            for rows in _batches(path, number, file):
                columns = [
                    pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return files


def _batches(path: Path, number: int, file: LogFile) -> Iterator[list[tuple[Any, ...]]]:
    lines = LineReader()
    rows: list[tuple[Any, ...]] = []
    for count, line in enumerate(lines_of(Source.beside(path), file), 1):
        try:
            if line is None:
                raise Unreadable
            rows.append((number, count, *lines.row(line)))
        except NotARequest:
            continue
        except Unreadable:
            file.note_unreadable(count)
            continue
        file.requests += 1
        if len(rows) >= ROWS_AT_A_TIME:
            yield rows
            rows = []
    if rows:
        yield rows


def lines_of(source: Source, file: LogFile) -> Iterator[bytes | None]:
    """The lines of a source; None for one that is too long."""
    for text in whole_lines(source, file):
        if text is None:
            yield None
        else:
            yield from text.removesuffix(b"\n").split(b"\n")


def whole_lines(source: Source, file: LogFile) -> Iterator[bytes | None]:
    """The bytes of a source, compressed or not, in pieces of whole lines; None for a line that is too long."""
    rest: list[bytes] = []
    held, too_long = 0, False
    try:
        for block in source.blocks():
            first = block.find(b"\n")
            held += len(block) if first < 0 else first
            if held > LONGEST_LINE:
                rest, held, too_long = [], 0, True
            if first < 0:
                rest += [] if too_long else [block]
                continue
            if too_long:
                yield None
            end = block.rfind(b"\n") + 1
            rest.append(block[first + 1 if too_long else 0 : end])
            if text := b"".join(rest):
                yield text
            rest, held, too_long = [block[end:]], len(block) - end, False
    except InputError as error:
        file.failure = str(error)
    if held or too_long:
        yield None if too_long else b"".join(rest)
    for note in source.notes:
        file.failure = f"{file_text(file.path)}: {note.text}"
