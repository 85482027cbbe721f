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
        "impossible_length", "The length field has an impossible value; decoding resumes at the next message header."
    ),
    PROBLEM_HEADER_LOST: ProblemKind(
        "header_lost", "The header of a message is in a gap of the capture: its size is known, its API is not."
    ),
    PROBLEM_FRAME_OVER_LIMIT: ProblemKind(
        "frame_over_limit", "A message is longer than --max-frame: the rest of it was skipped.", "--max-frame"
    ),
    PROBLEM_FRAME_CUT_BY_LIMIT: ProblemKind(
        "frame_cut_by_limit",
        "Memory for incomplete messages was used up (--max-reassembly): only the beginning was read.",
        "--max-reassembly",
    ),
    PROBLEM_HOLE_GIVEN_UP: ProblemKind(
        "hole_given_up",
        "Data behind missing bytes took too much memory (--max-reassembly, a sixteenth of it for one direction, but at "
        "least 16 MiB): the missing bytes count as lost, although they may have arrived later.",
        "--max-reassembly",
        is_counted=True,
    ),
    PROBLEM_CONNECTION_EVICTED: ProblemKind(
        "connection_evicted",
        "More connections at a time than --max-connections: this open one is no longer tracked.",
        "--max-connections",
        is_counted=True,
    ),
    PROBLEM_SEGMENT_GIVEN_UP: ProblemKind(
        "segment_given_up",
        "A segment of a connection that is no longer tracked because of --max-connections: not read.",
        "--max-connections",
        is_counted=True,
    ),
    PROBLEM_BOUNDARY_LOST: ProblemKind(
        "boundary_lost", "A gap hides where a message ends; bytes up to the next reliable header were skipped."
    ),
    PROBLEM_BOUNDARY_CUT: ProblemKind(
        "boundary_cut",
        "A packet was truncated by the snap length of the capture where a message ends; bytes up to the next reliable header "
        "were skipped. Capture whole packets (tcpdump -s 0).",
    ),
    PROBLEM_UNFINISHED_FRAME: ProblemKind(
        "unfinished_frame", "The connection or the capture ended in the middle of a message."
    ),
    PROBLEM_CONFLICTING_COPIES: ProblemKind(
        "conflicting_copies", "Two copies of the same bytes differ; the first one seen counts."
    ),
    PROBLEM_DAMAGED_SEGMENT: ProblemKind(
        "damaged_segment",
        "The TCP checksum of a segment is wrong, other checksums of its sender are correct, and its receiver did not accept "
        "it: not read.",
    ),
    PROBLEM_RESET_IGNORED: ProblemKind(
        "reset_ignored", "A reset with a sequence number far from the stream was ignored."
    ),
    PROBLEM_BYTES_AFTER_END: ProblemKind(
        "bytes_after_end", "Bytes beyond the end of the stream (FIN or RST) were skipped."
    ),
    PROBLEM_STRAY_BYTES: ProblemKind(
        "stray_bytes", "Bytes with sequence numbers far from the rest of their stream were skipped."
    ),
    PROBLEM_TLS_LOST: ProblemKind(
        "tls_lost", "After a gap no TLS record was found again: the rest of this direction was not decrypted."
    ),
    PROBLEM_TOO_MANY_WAITING: ProblemKind(
        "too_many_waiting",
        "More than 8,192 requests of one connection wait for replies; the oldest is no longer tracked.",
    ),
}
