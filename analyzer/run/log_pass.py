"""Brokers' logs of requests read as an input of their own, without a capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.text import input_name
from analyzer.ingest.run_tables import Run
from analyzer.ingest.summary import Summary
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import Source
from dissectors.formats.capture_facts import Note
from dissectors.tls.keys import KeyLog

if TYPE_CHECKING:
    from analyzer.request_log.log_exchanges import LogExchanges
    from analyzer.request_log.log_reader import LogFile


def read_logs_alone(sources: Sequence[Source], folder: Path, progress: Callable[[int], None] | None) -> Run:
    """Reads logs in the order of their names; raw tables grow in `folder`."""
    from analyzer.request_log.log_exchanges import LogExchanges

    exchanges = LogExchanges(folder)
    try:
        readings = [_read(number, source, exchanges, progress) for number, source in enumerate(sources)]
        counts = exchanges.finish()
    finally:
        exchanges.close()
    if exchanges.rows.unread:
        what = "1 body is" if exchanges.rows.unread == 1 else f"{exchanges.rows.unread:,} bodies are"
        readings[0].notes.append(
            Note("odd", 0, 0, f"{what} not in a form that can be read: of these requests the rest counts")
        )
    if exchanges.turns:
        readings[0].notes.append(
            Note("odd", 0, 0, "very many connections: one that was silent for long may count twice")
        )
    return Run(readings, _summary(exchanges.keys, counts, exchanges.dropped), KeyLog(), [folder], is_log=True)


def _read(number: int, source: Source, exchanges: LogExchanges, progress: Callable[[int], None] | None) -> Reading:
    from analyzer.request_log.log_reader import LogFile, whole_lines

    file = LogFile(input_name(source.name))
    reading = Reading(number, source, number, format="request log")
    done = 0
    exchanges.begin(number)
    for text in whole_lines(source, file):
        if progress and source.done_bytes != done:
            progress(source.done_bytes - done)
            done = source.done_bytes
        exchanges.read(text, file)
    if file.requests:
        reading.first_time_ns, reading.last_time_ns = exchanges.rows.first_ns, exchanges.rows.last_ns
    reading.bytes = source.size_bytes or source.done_bytes
    _note(reading, file)
    return reading


def _note(reading: Reading, file: LogFile) -> None:
    """What a person must know of a log."""
    if not file.requests:
        reading.failure = next(file.warnings())
        return
    lines = [file.failure] if file.failure else []
    lines += [line.partition(": ")[2] for line in file.warnings() if line != file.failure]
    reading.notes += [Note("damaged" if line == file.failure else "odd", 0, 0, line) for line in lines]


def _summary(keys: set[int], counts: Counter[str], dropped: bool) -> Summary:
    none = Counter[int]()
    return Summary(
        keys, set(), none, 0, Counter(), saw_several_points=False, odd=False, rows=counts, rows_left_out=dropped
    )
