"""Writes layouts.txt: the layout of every API, direction and version, and of structs inside bytes.

Equal neighbours stand together. Run it after a change to a schema file and read the difference:
`python tests/unit/dissectors/kafka/schema/write_layouts.py`
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from layouts import of_embedded, of_schema  # noqa: E402
from paths import LAYOUTS  # noqa: E402

from dissectors.kafka.schema import lookup  # noqa: E402


def lines() -> list[str]:
    """`API direction versions: layout`, by key; then `STRUCT versions: layout` of those that stand inside bytes."""
    found = []
    for key in lookup.readable_keys():
        api = lookup.api(key)
        for direction in ("request", "response"):
            found += runs(f"{api.name} {direction}", api.versions, partial(of_schema, api, direction))
    for name in lookup.embedded_names():
        known = lookup.embedded(name)
        found += runs(known.name, known.versions, partial(of_embedded, known))
    return found


def runs(name: str, versions: lookup.Span, layout: Callable[[int], str]) -> list[str]:
    """A line for versions that follow one another with the same layout."""
    found: list[tuple[list[int], str]] = []
    for version in range(versions.first, versions.last + 1):
        text = layout(version)
        if found and found[-1][1] == text:
            found[-1][0].append(version)
        else:
            found.append(([version], text))
    return [f"{name} {lookup.Span(run[0], run[-1])}: {text}" for run, text in found]


if __name__ == "__main__":
    LAYOUTS.write_text("\n".join(lines()) + "\n")
