"""Trees: request and reply through the interpreter, with what is inside their bytes, as JSON and as text for a person."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import material
from damage_bytes import damage as damage_bytes
from kind_messages import wrong_length
from kinds import law

from analyzer.base.text import printable
from analyzer.messages.render import Renderer, decode_line, message
from analyzer.messages.tree import tree
from dissectors.kafka.messages.explain import explain

# (key, version, request, reply)
Input = tuple[int, int, bytes, bytes]


class Trees:
    """Whatever the bytes are, there is a tree, its JSON is JSON and its lines are lines."""

    name = "trees"
    round_inputs = 8

    def make(self, chance: Random) -> Input:
        pair = chance.choice(material.pairs())
        both = []
        for whole in pair:
            data = bytearray(whole.frame)
            for _ in range(chance.choice((0, 1, 1, 2))):
                if whole.lengths and chance.random() < 0.5:
                    wrong_length(data, chance.choice(whole.lengths), chance)
                else:
                    damage_bytes(data, chance)
            if chance.random() < 0.1:
                data = bytearray(chance.choice(material.batches()).data)
            both.append(bytes(data))
        return pair[0].key, pair[0].version, both[0], both[1]

    def check(self, inputs: Sequence[Input]) -> None:
        for key, version, request, reply in inputs:
            asked = explain(key, version, "request", request)
            for found in (asked, explain(key, version, "response", reply, asked)):
                json.dumps(message(found, Renderer(records=True)), allow_nan=False)
                lines = list(tree(found, Renderer()))
                bad = [line for line in lines if printable(line) != line]
                law(not bad, "a line that a terminal would act upon", bad[:1], request, reply)
                if found.error is not None:
                    law(found.error.offset >= 0, "an error before the start", found.error, request, reply)
            json.dumps(
                decode_line({"api_key": key, "version": version, "direction": "response", "hex": reply.hex()}, True)
            )
