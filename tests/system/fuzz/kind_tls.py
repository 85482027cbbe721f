"""TLS: real sessions with damaged records, lost and repeated segments, and key logs that are right, wrong or rubbish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

import material
import tls_tools
from damage_bytes import SAME_SIZE
from damage_bytes import damage as damage_bytes
from kinds import law

from dissectors.tls.keys import KeyLog

# (segments: side and bytes, key log, numbers of lost segments, began with a SYN, bytes that each side really said)
Input = tuple[tuple[tuple[int, bytes], ...], bytes, tuple[int, ...], int, tuple[bytes, bytes]]


class Conversation(NamedTuple):
    flights: list[tuple[int, bytes]]
    key_log: bytes
    said: tuple[bytes, bytes]


@cache
def conversations() -> list[Conversation]:
    """The sessions of corpus/tls.jsonl, which `write_tls.py` made."""
    rows = [json.loads(line) for line in (material.CORPUS / "tls.jsonl").read_text().splitlines()]
    return [
        Conversation(
            [(side, bytes.fromhex(data)) for side, data in row["flights"]],
            row["key_log"].encode(),
            (bytes.fromhex(row["said"][0]), bytes.fromhex(row["said"][1])),
        )
        for row in rows
    ]


class Tls:
    """Every byte is content, overhead or unread, and no content is given that was not said."""

    name = "tls"
    round_inputs = 1

    def make(self, chance: Random) -> Input:
        conversation = chance.choice(conversations())
        size = chance.choice((7, 100, 536, 1448, 65536))
        segments = [
            (side, data[at : at + size]) for side, data in conversation.flights for at in range(0, len(data), size)
        ]
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            at = chance.randrange(len(segments))
            side, data = segments[at][0], bytearray(segments[at][1])
            which = chance.random()
            if which < 0.6:
                damage_bytes(data, chance, SAME_SIZE)
                segments[at] = (side, bytes(data))
            elif which < 0.8:
                segments.insert(chance.randrange(len(segments) + 1), chance.choice(segments))
            else:
                segments[at] = (side, chance.choice(conversations()).flights[0][1])
        lost = tuple(number for number in range(1, len(segments) + 1) if chance.random() < 0.02)
        log = bytearray(conversation.key_log if chance.random() < 0.9 else chance.choice(conversations()).key_log)
        if chance.random() < 0.2:
            damage_bytes(log, chance)
        return tuple(segments), bytes(log), lost, int(chance.random() < 0.8), conversation.said

    def check(self, inputs: Sequence[Input]) -> None:
        for segments, log, lost, from_syn, said in inputs:
            keys = KeyLog()
            keys.read(log)
            batch = 1 + len(segments) % 9
            one, other, facts = tls_tools.run(segments, keys, lost, batch, from_syn)
            for number, side in enumerate((one, other)):
                if facts is None:  # not told to be TLS: all of it is handed on as it came
                    law(len(side.content) == side.given_bytes, "bytes in", side.given_bytes, "out", len(side.content))
                    continue
                counted = len(side.content) + facts.overhead[number] + facts.unread[number]
                law(side.given_bytes == counted, "bytes in", side.given_bytes, "counted", counted)
                if facts.decrypted:
                    # Until it is told to be TLS, what comes is handed on as it is.
                    known = {said[number], *(data for sender, data in segments if sender == number)}
                    made_up = [piece[0] for piece in side.pieces if not any(piece[0] in each for each in known)]
                    law(not made_up, "content that nobody said", made_up[:1])
