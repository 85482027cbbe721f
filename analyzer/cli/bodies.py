"""Exchanges with their decoded bodies as lines of JSON."""

from __future__ import annotations

import json
from typing import Any

from analyzer.base.text import escape_json
from analyzer.messages.render import Renderer, message
from analyzer.query.export import with_hex_keys
from dissectors.errors import Limited
from dissectors.kafka.messages.explain import explain


class ExchangeLines:
    """Makes the lines; counts the bodies whose trees are too large to be shown whole."""

    def __init__(self, records: bool = False) -> None:
        self._renderer = Renderer(records=records, secrets=False)
        self._cut = 0

    def line(self, row: dict[str, Any], request: bytes | None, response: bytes | None) -> str:
        """The columns of the row, then `request` and `response`: the bodies as far as they can be read, or null.

        `request_decoded` and `response_decoded` of the row say how far that was; `request_left_out_bytes` and
        `response_left_out_bytes` are there when a body ends earlier because its tree would be too large (`room`). Secrets are
        `{"secret_bytes": n}`. With `records` each record of each batch is there.
        """
        found = with_hex_keys(row)
        key, version = row["api_key"], row["api_version"]
        trees = {
            side: (frame, None if frame is None or key is None else explain(key, version, side, frame))
            for side, frame in (("request", request), ("response", response))
        }
        self._renderer.allow_echoes(trees["request"][1], trees["response"][1])
        for side, (frame, tree) in trees.items():
            found[side] = None if tree is None else message(tree, self._renderer)["body"]
            if frame is not None and tree is not None and isinstance(tree.error, Limited):
                found[f"{side}_left_out_bytes"] = len(frame) - tree.error.offset
                self._cut += 1
        return escape_json(json.dumps(found, ensure_ascii=False, separators=(",", ":")))

    def remark(self) -> str | None:
        """A line for a person when something was left out."""
        if not self._cut:
            return None
        bodies = "1 body is" if self._cut == 1 else f"{self._cut:,} bodies are"
        return f"{bodies} too large to be shown whole: left_out_bytes says how much is missing"
