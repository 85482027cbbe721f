"""What stands between clients and brokers, in words: translations of addresses and proxies of which both sides were captured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.report.format import count, duration, endpoint, safe, things

# Of more there is the number.
_MOST = 4


def sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line about each of the first rows of the metric `between`, safe to print."""
    lines = [_translation(row) if row["sort"] == "translation" else _proxy(row) for row in rows[:_MOST]]
    if rows and (more := rows[0]["total_rows"] - len(lines)) > 0:
        lines.append(
            f"{things(more, 'more translation or proxy', 'more translations or proxies')}: kanalyze sql CAPTURE"
        )
    return lines


def _translation(row: dict[str, Any]) -> str:
    reached = safe(endpoint(row["address"], row["port"]))
    if row["behind"] is None:
        what = f"clients of {reached} come from other addresses behind it ({safe(row['behind_client'])})"
    else:
        what = f"{reached} is {safe(row['behind'])} behind it"
    seen = f"{things(row['connections'], 'connection')} {'was' if row['connections'] == 1 else 'were'}"
    return f"Address translation: {what}; {seen} captured on both sides, counted once."


def _proxy(row: dict[str, Any]) -> str:
    reached, behind = safe(endpoint(row["address"], row["port"])), safe(row["behind"])
    proxies = "" if row["proxies"] == 1 else f" over {count(row['proxies'])} proxies"
    takes = "" if row["proxy_ns"] is None else f", which takes {duration(row['proxy_ns'])} of their latency (median)"
    line = f"Proxy: {reached} carries {things(row['requests'], 'request')} on to {behind}{proxies}{takes}; counted once"
    if row["around"]:
        why = f", as Metadata names {behind}" if row["is_named"] else ""
        line += f". {things(row['around'], 'request')} of its clients {'goes' if row['around'] == 1 else 'go'} around it{why}"
    return f"{line}."
