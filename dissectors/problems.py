"""The kinds of problems that stages report: number, name, what a person reads, and the option that would have avoided it.

Stages write the number into PROBLEM_KIND of their rows; the table `problems` shows the name and the sentence. Adding a kind
is one constant and one line of `KINDS`.
"""

from __future__ import annotations

from typing import NamedTuple

# Framing.
PROBLEM_IMPOSSIBLE_LENGTH = 10
PROBLEM_HEADER_LOST = 11
PROBLEM_FRAME_CUT_BY_LIMIT = 12
PROBLEM_BOUNDARY_LOST = 13
PROBLEM_UNFINISHED_FRAME = 14
PROBLEM_TOO_MANY_WAITING = 15
PROBLEM_BOUNDARY_CUT = 16
PROBLEM_FRAME_OVER_LIMIT = 17
# Reassembly.
PROBLEM_CONFLICTING_COPIES = 20
PROBLEM_RESET_IGNORED = 21
PROBLEM_BYTES_AFTER_END = 22
PROBLEM_CONNECTION_EVICTED = 23
PROBLEM_STRAY_BYTES = 24
PROBLEM_HOLE_GIVEN_UP = 25
PROBLEM_SEGMENT_GIVEN_UP = 26
PROBLEM_DAMAGED_SEGMENT = 27
# TLS.
PROBLEM_TLS_LOST = 30


class ProblemKind(NamedTuple):
    """`option` is None where no limit is the cause. `is_counted`: the stage counts its cases itself, those beyond the rows of
    the table too."""

    name: str
    sentence: str
    option: str | None = None
    is_counted: bool = False


# In the order in which a report tells them.
KINDS = {
    PROBLEM_IMPOSSIBLE_LENGTH: ProblemKind(
        "impossible_length",
        "No frame can be as long as the length field says; framing starts again at the next header.",
    ),
    PROBLEM_HEADER_LOST: ProblemKind(
        "header_lost", "A frame's header fell into a gap: its bytes are known, what it was is not."
    ),
    PROBLEM_FRAME_OVER_LIMIT: ProblemKind(
        "frame_over_limit", "A message longer than --max-frame: what lies behind was passed over.", "--max-frame"
    ),
    PROBLEM_FRAME_CUT_BY_LIMIT: ProblemKind(
        "frame_cut_by_limit",
        "Memory for unfinished frames was used up (--max-reassembly): only the head was read.",
        "--max-reassembly",
    ),
    PROBLEM_HOLE_GIVEN_UP: ProblemKind(
        "hole_given_up",
        "What waits for missing bytes took too much memory (--max-reassembly, a sixteenth of it for one direction, but at "
        "least 16 MiB): they count as lost, though they may have come later.",
        "--max-reassembly",
        is_counted=True,
    ),
    PROBLEM_CONNECTION_EVICTED: ProblemKind(
        "connection_evicted",
        "More connections at a time than --max-connections: this open one was given up.",
        "--max-connections",
        is_counted=True,
    ),
    PROBLEM_SEGMENT_GIVEN_UP: ProblemKind(
        "segment_given_up",
        "A segment of a connection that --max-connections had made us give up: not read.",
        "--max-connections",
        is_counted=True,
    ),
    PROBLEM_BOUNDARY_LOST: ProblemKind(
        "boundary_lost", "A gap hid where a frame ends; bytes up to the next sure header were passed over."
    ),
    PROBLEM_BOUNDARY_CUT: ProblemKind(
        "boundary_cut",
        "A packet was cut by the snap length of the capture where a frame ends; bytes up to the next sure header were passed "
        "over. Capture whole packets (tcpdump -s 0).",
    ),
    PROBLEM_UNFINISHED_FRAME: ProblemKind(
        "unfinished_frame", "The connection or the capture ended in the middle of a frame."
    ),
    PROBLEM_CONFLICTING_COPIES: ProblemKind(
        "conflicting_copies", "Two copies of the same bytes differ; the first one seen counts."
    ),
    PROBLEM_DAMAGED_SEGMENT: ProblemKind(
        "damaged_segment",
        "The TCP checksum of a segment is wrong, those of its sender are right otherwise, and its receiver did not take it: not "
        "read.",
    ),
    PROBLEM_RESET_IGNORED: ProblemKind(
        "reset_ignored", "A reset whose sequence number lies far from the stream: it ended nothing."
    ),
    PROBLEM_BYTES_AFTER_END: ProblemKind(
        "bytes_after_end", "Bytes beyond the end of the stream (FIN or RST) were passed over."
    ),
    PROBLEM_STRAY_BYTES: ProblemKind("stray_bytes", "Bytes far from the others of their stream: left out."),
    PROBLEM_TLS_LOST: ProblemKind(
        "tls_lost", "After a gap no TLS record could be found again: the rest of this direction was not decrypted."
    ),
    PROBLEM_TOO_MANY_WAITING: ProblemKind(
        "too_many_waiting", "More than 8,192 requests of one connection wait for replies; the oldest was given up."
    ),
}
