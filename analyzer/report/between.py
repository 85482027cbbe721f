"""What is between clients and brokers, in words: translations of addresses, and proxies with both sides captured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.report.format import count, duration, endpoint, safe, things

# Of more there is the number.
_MOST = 4
_OWN_HOST = ("127.", "[::1]")


def sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line about each of the first translations and proxies of the metric `between`, safe to print."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        # What a proxy carries on to several brokers is one line.
        key = (row["address"], row["port"] * (row["sort"] != "tls"), row["proxies"] or row["behind"] or "")
        found.setdefault((row["sort"], *key), []).append(row)
    shown = list(found.values())[:_MOST]
    lines = [_WORDS[alike[0]["sort"]](alike) for alike in shown]
    if rows and (more := rows[0]["total_rows"] - sum(map(len, shown))) > 0:
        lines.append(
            f"{things(more, 'more translation or proxy', 'more translations or proxies')}: kanalyze sql CAPTURE"
        )
    return lines


def _translation(rows: Sequence[dict[str, Any]]) -> str:
    row = rows[0]
    reached = safe(endpoint(row["address"], row["port"]))
    if row["sort"] == "redirect":
        before = row["behind"].split(", ")
        own = [each for each in before if each.startswith(_OWN_HOST)]
        asked = " and ".join(safe(each) for each in before if each not in own) or reached
        at = f" at {safe(own[0])}" if own else ""
        what = (
            f"requests to {asked} are redirected on their own host to a proxy{at}, which carries them on to {reached}"
        )
    elif row["behind"] is None:
        what = f"clients of {reached} come from other addresses behind it ({safe(row['behind_client'])})"
    else:
        what = f"{reached} is {safe(row['behind'])} behind it"
    seen = f"{things(row['connections'], 'connection')} {'was' if row['connections'] == 1 else 'were'}"
    sides = "on each leg" if row["sort"] == "redirect" else "on both sides"
    return f"Address translation: {what}; {seen} captured {sides}, counted once."


def _unanswered(rows: Sequence[dict[str, Any]]) -> str:
    row = rows[0]
    reached, behind = safe(endpoint(row["address"], row["port"])), safe(row["behind"])
    asked = things(row["requests"], "request")
    return (
        f"Address translation: {asked} to {reached} {'goes' if row['requests'] == 1 else 'go'} on to {behind}, from where "
        f"no reply came back ({things(row['connections'], 'connection')}, captured under both addresses, counted once)."
    )


def _proxy(rows: Sequence[dict[str, Any]]) -> str:
    """What one address carries on over so many proxies; `rows`: one for each broker behind it."""
    row = rows[0]
    reached, behind = safe(endpoint(row["address"], row["port"])), _listed([each["behind"] for each in rows])
    proxies = "" if row["proxies"] == 1 else f" over {count(row['proxies'])} proxies"
    requests = things(sum(each["requests"] for each in rows), "request")
    line = f"Proxy: {reached} carries {requests} on to {behind}{proxies}{_takes(rows)}; counted once"
    if around := sum(each["around"] for each in rows):
        named = [each["behind"] for each in rows if each["around"] and each["is_named"]]
        why = f", as Metadata names {_listed(named)}" if named else ""
        line += f". {things(around, 'request')} of its clients {'goes' if around == 1 else 'go'} around it{why}"
    return f"{line}."


def _ends_tls(rows: Sequence[dict[str, Any]]) -> str:
    ports = sorted({(row["address"], row["port"]) for row in rows})
    reached, behind = _listed([endpoint(*each) for each in ports]), _listed(sorted({row["behind"] for row in rows}))
    seen = things(sum(each["connections"] for each in rows), "connection")
    return f"TLS ends at {reached}: a proxy there speaks plainly to {behind} ({seen} seen beside TLS ones of clients)."


def _takes(rows: Sequence[dict[str, Any]]) -> str:
    times = sorted(row["proxy_ns"] for row in rows if row["proxy_ns"] is not None)
    if not times:
        return ""
    least, most = duration(times[0]), duration(times[-1])
    return f", which takes {most if least == most else f'{least} to {most}'} of their latency (median)"


def _listed(endpoints: Sequence[str]) -> str:
    """a, b and 3 more"""
    told = [safe(each) for each in endpoints[:3]]
    if more := len(endpoints) - len(told):
        return f"{', '.join(told)} and {count(more)} more"
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


_WORDS = {
    "translation": _translation,
    "redirect": _translation,
    "unanswered": _unanswered,
    "proxy": _proxy,
    "tls": _ends_tls,
}
