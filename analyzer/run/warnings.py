"""What a person reads about a run: inputs that could not be read, limits that were reached, secrets that were of no use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.link_names import link_name
from analyzer.base.text import input_name
from dissectors import layout
from dissectors.kafka.columns.walk_limits import MOST_ROWS_OF_A_MESSAGE
from dissectors.problems import KINDS as PROBLEM_KINDS

if TYPE_CHECKING:
    from analyzer.ingest.summary import Summary
    from analyzer.inputs.readings import Reading
    from dissectors.formats.capture_facts import Note
    from dissectors.tls.keys import KeyLog

# A tunnel that is not read is worth a line from one packet in so many on: tunnels have control messages, and bytes are damaged.
LEAST_SHARE = 100

# Of notes that differ in their numbers alone so many are lines.
MOST_ALIKE = 3


def passed_over_warning(names: Sequence[str]) -> str:
    """One line about files of directories that are no captures."""
    shown = ", ".join(Path(name).name for name in names[:3]) + (", ..." if len(names) > 3 else "")
    what = "1 file that is not a capture" if len(names) == 1 else f"{len(names):,} files that are not captures"
    return f"{names[0].rpartition('/')[0] or '.'}: skipped {what} ({shown})"


def limits_reached(summary: Summary) -> list[str]:
    """The options whose limits were reached."""
    return [kind.option for number, kind in PROBLEM_KINDS.items() if kind.option and summary.limited[number]]


def limit_warnings(summary: Summary) -> Iterator[str]:
    """A line for each limit that was reached: the numbers of this run are not those of the whole capture."""
    for number, kind in PROBLEM_KINDS.items():
        count = summary.limited[number]
        if kind.option and count:
            times = f" ({count:,} times)" if count > 1 else ""
            yield f"a limit was reached{times}, so all results are incomplete: {kind.sentence} Raise {kind.option}."
    if summary.rows_left_out:
        yield (
            f"a message has more than {MOST_ROWS_OF_A_MESSAGE:,} partitions, errors or record batches: those beyond are in no "
            "table, so counts of them are too low"
        )
    if summary.problems_dropped:
        yield f"the table `problems` leaves out {summary.problems_dropped:,} more problems: it takes a few thousand at a time"


def secret_warnings(keys: KeyLog) -> Iterator[str]:
    """Lines about the secrets of TLS sessions, without a secret in them."""
    if keys.broken_lines:
        lines = "1 line that is" if keys.broken_lines == 1 else f"{keys.broken_lines:,} lines that are"
        yield f"TLS secrets: skipped {lines} not in key log format"
    if keys.came_late:
        yield (
            "TLS secrets appear later in the capture than the sessions that need them, and standard input cannot be read "
            "twice: save it to a file first"
        )


_FIRST_YEAR_NS = 365 * 86_400 * 10**9


def is_unreadable(reading: Reading) -> bool:
    """Whether an input failed or is damaged. A file that ends inside a packet is neither: captures often end so."""
    return reading.failure is not None or any(note.kind == "damaged" for note in reading.notes)


def input_warnings(reading: Reading) -> Iterator[str]:
    """Lines about one input: why it could not be read, its notes, and packets of unknown link types."""
    if reading.failure:
        yield reading.failure
    for line in note_lines(reading.notes):
        yield f"{input_name(reading.source.name)}: {line}"
    for each in reading.unread:
        if each.is_tunnel and each.packets * LEAST_SHARE >= sum(reading.outcomes):
            yield f"{input_name(reading.source.name)}: {each}, not decoded: the traffic in this tunnel is missing from all results"
    if reading.first_time_ns is not None and 0 <= reading.first_time_ns < _FIRST_YEAR_NS:
        yield f"{input_name(reading.source.name)}: {_dated_1970(reading)}"
    unknown = reading.outcomes[layout.SEEN_UNKNOWN_LINK]
    if unknown:
        links = ", ".join(link_name(link) for link in reading.unread_links)
        packets = "1 packet" if unknown == 1 else f"{unknown:,} packets"
        yield (
            f"{input_name(reading.source.name)}: {packets} skipped: unsupported link type ({links}); "
            "capture on Ethernet, cooked or raw IP instead"
        )


def note_lines(notes: Iterable[Note]) -> Iterator[str]:
    """The texts of notes, of many that are alike the first few."""
    texts = [(re.sub(r"\d+", "0", note.text), note.text) for note in notes]
    alike = Counter(shape for shape, _ in texts)
    said: Counter[str] = Counter()
    for shape, text in texts:
        said[shape] += 1
        more = alike[shape] - MOST_ALIKE
        if said[shape] < MOST_ALIKE or more <= 0:
            yield text
        elif said[shape] == MOST_ALIKE:
            yield f"{text} ({more:,} more like this)"


def _dated_1970(reading: Reading) -> str:
    if reading.last_time_ns is not None and reading.last_time_ns < _FIRST_YEAR_NS:
        return (
            "all packets are dated 1970: the clock of the capture, or the resolution of its timestamps, is wrong; durations may "
            "be wrong too"
        )
    return (
        "some packets are dated 1970, others not: the clock of an interface, or the resolution of its timestamps, is wrong, and "
        "so are rates and durations"
    )
