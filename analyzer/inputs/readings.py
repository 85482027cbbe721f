"""What is known of an input, or of a piece of it, once it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePath

from analyzer.base.traffic_names import Unread
from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.formats.capture_facts import Note

# `end_offset` where no record follows: the file ended, or is damaged from there on.
NO_MORE = 1 << 62
Octets = bytes  # for annotations in a class with a field `bytes`


@dataclass(slots=True)
class Reading:
    """What reading one split gave: facts for the table `captures`, and notes for a person.

    `file` is the number of the input that the split belongs to. `numbers` counts the packet numbers used here: some pcapng
    blocks that are no packets take one, as in Wireshark.
    `tap` is the name that a person gave to the capture point, empty without one; `capture_point` a number that inputs share
    unless they were captured at the same time. `failure` is one line when the input is no capture at all, else None;
    `notes` name damage, and what was read before counts; `odd_datagrams` counts what `ODD_DATAGRAMS` names,
    `incomplete` are IP datagrams whose fragments the run did not all see.
    `late_packets` came too late to be put in the order of time, by up to `late_ns`, and `steps_back` times the time ran back by
    more than that order goes across; `first_disorder` is the number of the first such packet. `steps` are where times jump, or
    pause (packet, ns before, ns behind), `dropped_steps` how many more there were. `far_ahead` counts packets whose time
    is ahead of both neighbours by more than that; `first_far_ahead` is the number of the first, 0: the one before this piece.
    `drops`: interface -> packets that the capturing host lost, by its newest count. `secrets` are those in the capture,
    (type, bytes).

    For a piece of a file, `first_offset` is where its first record begins, and `end_offset` where the first record behind it
    begins, NO_MORE when there is none; both are None when no record was found. `head` is what a reader must know to go on
    there.
    """

    split: int
    source: Source
    file: int
    tap: str = ""
    capture_point: int = 0
    format: str | None = None
    bytes: int = 0
    numbers: int = 0
    outcomes: list[int] = field(default_factory=lambda: [0] * layout.SEEN_OUTCOMES)
    link_types: list[int] = field(default_factory=list)
    unread_links: list[int] = field(default_factory=list)  # those of them that no reader knows
    unread: list[Unread] = field(default_factory=list)  # packets without TCP, or without any that is read, by name
    first_time_ns: int | None = None
    last_time_ns: int | None = None
    drops: dict[int, int] = field(default_factory=dict)
    snap_bytes: int | None = None
    notes: list[Note] = field(default_factory=list)
    odd_datagrams: tuple[int, ...] = (0, 0)
    late_packets: int = 0
    late_ns: int = 0
    steps_back: int = 0
    first_disorder: int | None = None
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    dropped_steps: int = 0
    far_ahead: int = 0
    first_far_ahead: int = 0
    incomplete: frozenset[tuple[int, ...]] = frozenset()
    failure: str | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    head: Octets = field(default=b"", repr=False)
    secrets: list[tuple[int, Octets]] = field(default_factory=list, repr=False)


ODD_DATAGRAMS = (
    "IP datagrams whose fragments overlap; the first copy of each byte counts",
    "impossible IP fragments, skipped",
)


def tap_of(name: str, taps: Sequence[tuple[str, str]]) -> str:
    """The name of the capture point of an input, by the first of `taps` (name, glob) that matches; empty: none does."""
    for tap, pattern in taps:
        if fnmatchcase(name, pattern) or fnmatchcase(PurePath(name).name, pattern):
            return tap
    return ""
