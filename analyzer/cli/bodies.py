"""An exchange with its decoded bodies as one line of JSON."""

from __future__ import annotations

import json
from typing import Any

from analyzer.base.text import escape_json
from analyzer.messages.render import Renderer, message
from analyzer.query.export import with_hex_keys
from dissectors.kafka.messages.explain import explain


def exchange_line(row: dict[str, Any], request: bytes | None, response: bytes | None, records: bool = False) -> str:
    """The columns of the row, then `request` and `response`: the bodies as far as they can be read, or null.

    `request_decoded` and `response_decoded` of the row say how far that was. Secrets are `{"secret_bytes": n}`. With
    `records` each record of each batch is there.
    """
    renderer = Renderer(records=records, secrets=False)
    found = with_hex_keys(row)
    key, version = row["api_key"], row["api_version"]
    messages = {
        side: None if frame is None or key is None else explain(key, version, side, frame)
        for side, frame in (("request", request), ("response", response))
    }
    renderer.allow_echoes(messages["request"], messages["response"])
    for side, explained in messages.items():
        found[side] = None if explained is None else message(explained, renderer)["body"]
    return escape_json(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
