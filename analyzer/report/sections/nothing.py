"""What is printed when the filters leave nothing: what could have been asked for. The verdict before it says that it is so."""

from __future__ import annotations

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.format import safe, time_range

WORDS = {
    "client": "Clients",
    "broker": "Brokers",
    "api": "APIs",
    "topic": "Topics",
    "namespace": "Namespaces",
    "zone": "Zones",
}
NAMES = 6


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The names that there are, of each sort that was filtered by."""
    del limit
    chosen = facts.filters
    lines: list[Text] = []
    wanted = {"client": chosen.clients, "broker": chosen.brokers, "api": chosen.apis, "topic": chosen.topics}
    wanted |= {"namespace": chosen.namespaces, "zone": chosen.zones}
    rows = facts.rows("choices")
    for sort, values in wanted.items():
        names = [row for row in rows if row["sort"] == sort]
        if values and names:
            shown = ", ".join(safe(row["name"]) for row in names[:NAMES])
            more = names[0]["total_rows"] - len(names[:NAMES])
            lines += _told(f"{WORDS[sort]} in the capture: {shown}" + (f" and {more:,} more" if more else ""), width)
    row = facts.coverage()
    timed = chosen.from_ns is not None or chosen.to_ns is not None
    if timed and row["first_time_ns"] is not None:
        lines += _told(f"The capture covers {time_range(row['first_time_ns'], row['last_time_ns'])}", width)
    return lines


def _told(text: str, width: int) -> list[Text]:
    return [Text(text_tables.INDENT + line) for line in text_tables.wrap(f"{text}.", width - len(text_tables.INDENT))]
