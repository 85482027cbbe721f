"""What brokers are beside Apache's of a release that kanalyze knows, in words: others' software, or newer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.report.format import count, safe, things

# APIs that are named; of more there is the number.
_MOST = 6


def sentence(rows: Sequence[dict[str, Any]]) -> str:
    """One line about the rows of the metric `offered_beyond`, safe to print; empty without rows."""
    if not rows:
        return ""
    brokers = max(row["brokers"] for row in rows)
    who = f"{safe(rows[0]['broker'])} offers" if brokers == 1 else f"{things(brokers, 'broker')} offer"
    named = [_named(row) for row in rows[:_MOST]]
    more = f" and {count(len(rows) - _MOST)} more" if len(rows) > _MOST else ""
    return f"{who} more than Kafka {safe(rows[0]['release'])}, the newest release that kanalyze knows: {', '.join(named)}{more}."


def _named(row: dict[str, Any]) -> str:
    """An API with the newest version offered; a key that has no known name."""
    return f"{safe(row['api_name'])} v{row['max_version']}" if row["api_name"] else f"key {row['api_key']}"


def software(rows: Sequence[dict[str, Any]]) -> str:
    """One line about the rows of the metric `broker_software`, safe to print; empty without rows."""
    named: dict[str, str] = {}
    for row in rows:
        named.setdefault(row["software"], f"{row['software']} (inferred from the {row['what']} {safe(row['example'])})")
    return f"Brokers: {', '.join(named.values())}." if named else ""
