"""What is printed when the filters leave nothing: that it is so, and what could have been asked for.

An empty page would look like a quiet cluster.
"""

from __future__ import annotations

from rich.text import Text

from analyzer.base import filters
from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.format import safe, time_range

WORDS = {"client": "Clients", "broker": "Brokers", "api": "APIs", "topic": "Topics"}
NAMES = 6


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One sentence, then the names that there are, of each sort that was filtered by."""
    del limit
    chosen = facts.filters
    asked = safe(filters.words(chosen))
    timed = chosen.from_ns is not None or chosen.to_ns is not None
    what = [] if asked == "(empty)" else [asked]
    what += ["the time asked for"] if timed else []
    lines = [
        Text(line, style=text_tables.HEADING)
        for line in text_tables.wrap(f"No request matches: {', '.join(what)}.", width)
    ]
    wanted = {"client": chosen.clients, "broker": chosen.brokers, "api": chosen.apis, "topic": chosen.topics}
    rows = facts.rows("choices")
    for sort, values in wanted.items():
        names = [row for row in rows if row["sort"] == sort]
        if values and names:
            shown = ", ".join(safe(row["name"]) for row in names[:NAMES])
            more = names[0]["total_rows"] - len(names[:NAMES])
            lines += _told(f"{WORDS[sort]} in the capture: {shown}" + (f" and {more:,} more" if more else ""), width)
    row = facts.coverage()
    if timed and row["first_time_ns"] is not None:
        lines += _told(f"The capture lasts from {time_range(row['first_time_ns'], row['last_time_ns'])}", width)
    return lines


def _told(text: str, width: int) -> list[Text]:
    return [Text(text_tables.INDENT + line) for line in text_tables.wrap(f"{text}.", width - len(text_tables.INDENT))]
