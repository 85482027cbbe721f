"""Writes layouts.txt: the layout of every API, direction and version, equal neighbours together.

Run it after a change to a schema file (`python tests/kafka/write_layouts.py`) and read the difference.
"""

from __future__ import annotations

from pathlib import Path

from layouts import of_schema

from dissectors.kafka import schema

TARGET = Path(__file__).with_name("layouts.txt")


def lines() -> list[str]:
    """`API direction versions: layout`, by key."""
    found = []
    for key in schema.readable_keys():
        api = schema.api(key)
        for direction in ("request", "response"):
            runs: list[tuple[list[int], str]] = []
            for version in range(api.versions.first, api.versions.last + 1):
                layout = of_schema(api, direction, version)
                if runs and runs[-1][1] == layout:
                    runs[-1][0].append(version)
                else:
                    runs.append(([version], layout))
            found += [f"{api.name} {direction} {schema.Span(run[0], run[-1])}: {layout}" for run, layout in runs]
    return found


if __name__ == "__main__":
    TARGET.write_text("\n".join(lines()) + "\n")
