"""The HTML file: one document with its style, its script and its data inside, which asks for nothing else.

Captured strings are data alone: they are in a JSON block that no parser of HTML can leave, and the script puts them on the page
as text. A policy in the head allows the scripts and styles of this file, by their hashes, and no request of any kind.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.base.text import json_text

ASSETS = Path(__file__).parent / "assets"
# In the order of the page: each uses what comes before it.
SCRIPTS = (
    "numbers.js",
    "elements.js",
    "rows.js",
    "selection.js",
    "places.js",
    "tables.js",
    "steering.js",
    "axis.js",
    "charts.js",
    "findings.js",
    "timeline.js",
    "whose_time.js",
    "distribution.js",
    "flows.js",
    "lanes.js",
    "partitions.js",
    "traffic.js",
    "slowest.js",
    "page.js",
)
LIBRARY, LIBRARY_STYLE = "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css"


def document(data: dict[str, Any]) -> str:
    """The whole file as text. `data` is what `page_data` made; NaN in it is a ValueError."""
    style = f"{asset(LIBRARY_STYLE)}\n{asset('page.css')}"
    library = asset(LIBRARY)
    script = "(() => {\n'use strict';\n" + "\n".join(asset(name) for name in SCRIPTS) + "\n})();\n"
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {content_hash(library)} {content_hash(script)}",
            f"style-src {content_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "POLICY": policy,
        "STYLE": style,
        "LIBRARY": library,
        "SCRIPT": script,
        "DATA": embedded(data),
        "GLOSSARY": embedded(glossary()),
    }
    made = asset("page.html")
    # Piece by piece: what is in the data is never taken for a place.
    for name in parts:
        assert made.count(f"@{name}@") == 1
    pieces, rest = [], made
    for name in sorted(parts, key=lambda name: made.index(f"@{name}@")):
        before, _, rest = rest.partition(f"@{name}@")
        pieces += [before, parts[name]]
    return "".join([*pieces, rest])


def embedded(value: Any) -> str:
    """JSON that may be in a script element: without `<`, `>` and `&`, so that no tag or comment begins in it."""
    text = json_text(value, dense=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def glossary() -> list[list[str]]:
    """Terms and what they mean, in the order of the alphabet."""
    lines = asset("glossary.tsv").splitlines()
    return sorted((line.split("\t") for line in lines), key=lambda pair: pair[0].lower())


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return (ASSETS / name).read_text(encoding="utf-8")


def content_hash(text: str) -> str:
    """The source of a policy that allows an element with exactly this content (CSP Level 3)."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
