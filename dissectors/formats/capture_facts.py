"""What a capture file says about itself besides its packets: interfaces, secrets, damage."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

NOTES_KEPT = 100
NO_PACKET_YET = "before the first whole packet"


@dataclass
class Interface:
    """One interface of a capture. `PACKET_INTERFACE` of a packet is its index in the reader's list.

    `link` is a LINKTYPE_ number; `snaplen_bytes` 0 means not limited; `received` and `drops` are the newest counts of
    an Interface Statistics Block, None where the file has none.
    """

    link: int
    snaplen_bytes: int
    name: str = ""
    ticks_per_second: int = 1_000_000
    offset_seconds: int = 0
    received: int | None = None
    drops: int | None = None


@dataclass(frozen=True)
class Note:
    """Something a person should know about the file.

    `kind` is `cut` (the file ends within a packet), `damaged` (bytes that are no capture), `skipped` (understood, but not
    read) or `odd` (read, but unusual). `offset` counts bytes from the start of the uncompressed file; `packet` is the last
    packet before it; `lost_bytes` is None when that is not known.
    """

    kind: str
    offset: int
    packet: int
    text: str
    lost_bytes: int | None = None

    def behind(self, packets: int) -> Note:
        """The same note with packets counted from the start of the file: `packets` come before the piece that was read."""
        if not packets:
            return self
        number = self.packet + packets
        text = re.sub(rf"\bpacket {self.packet}\b", f"packet {number}", self.text)
        return replace(self, packet=number, text=text.replace(NO_PACKET_YET, f"after packet {number}"))


def keep_note(notes: list[Note], note: Note) -> None:
    """Appends `note`. Behind NOTES_KEPT notes one more says that there are others."""
    if len(notes) < NOTES_KEPT:
        notes.append(note)
    elif len(notes) == NOTES_KEPT:
        notes.append(Note("odd", note.offset, note.packet, "more like these from here on, not listed"))


def cut_note(offset: int, packets: int, leftover_bytes: int) -> Note:
    """The note for a file that ends within a record, as it does when the capturing program was killed."""
    after = f"after packet {packets}" if packets else NO_PACKET_YET
    text = (
        f"the file ends in the middle of a packet, at byte {offset} {after} ({leftover_bytes:,} bytes not used); "
        "what comes before counts; if more was captured, copy the file again"
    )
    return Note("cut", offset, packets, text, leftover_bytes)
