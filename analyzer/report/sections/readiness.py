"""Will these clients work with Kafka 4: verdicts by client, the worst first, with reason and cure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import count, safe, things
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze readiness"
NOTHING = "No client requests in this capture, so there is nothing to judge."
# As the oldest version that Kafka 4 accepts it means: the whole API was removed.
GONE = 32767
VERDICTS = {
    "already_failing": ("already failing", "bold red"),
    "breaks": ("breaks", "bold red"),
    "undetermined": ("undetermined", "yellow"),
    "unknown": ("unknown", "yellow"),
    "upgrade_note": ("between brokers", ""),
    "fine_as_far_as_seen": ("fine as far as seen", "green"),
}
REASONS = {
    "refused": "The broker already refuses these versions",
    "newer_was_offered": "The broker offers newer versions, but the client uses these",
    "never_asks": "These clients never ask which versions the broker supports (ApiVersions)",
    "nothing_newer_offered": "This broker offers nothing newer: the client may use newer versions with another",
    "offer_not_seen": "The versions that the broker offers are not in the capture",
    "release_not_known": "It is not known whether this release supports these versions",
}
CLIENTS = (
    Column("client", least=14),
    Column("address", least=9, spare=2),
    Column("user", least=8, spare=4),
    Column("software", least=8, spare=3),
    Column("requests", right=True),
    Column("uses", least=24),
)
CELLS = (
    Column("client", least=12),
    Column("address", least=9, spare=2),
    Column("software", least=8, spare=3),
    Column("API"),
    Column("verdict"),
    Column("minimum", right=True, spare=1),
    Column("requests", right=True),
    Column("exchange", spare=4),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """A few lines per client that is not fine, then those that are, by name."""
    rows = facts.rows("readiness")
    if not rows:
        return []
    release = rows[0]["release"]
    clients = _by_client(row for row in rows if row["verdict"] != "upgrade_note")
    worst: dict[str, list[Rows]] = {verdict: [] for verdict in VERDICTS}
    for found in clients.values():
        worst[_verdict(found)].append(found)
    lines = [text_tables.heading(f"Readiness for Kafka {release}", width)]
    counts = [_counted(len(found), VERDICTS[verdict][0]) for verdict, found in worst.items() if found]
    lines += [
        Text(text_tables.INDENT + line)
        for line in text_tables.wrap(f"{things(len(clients), 'client')}: {', '.join(counts)}", width - 2)
    ]
    for verdict in ("already_failing", "breaks", "undetermined", "unknown"):
        lines += _bad(verdict, worst[verdict], facts, width, limit)
    lines += _fine(worst["fine_as_far_as_seen"], width)
    lines += _between_brokers([row for row in rows if row["verdict"] == "upgrade_note"], width)
    notes = "Judged by the requests in this capture: an API that no client used here is not judged. "
    notes += "--part versions lists every API and version."
    return [*lines, Text(""), *text_tables.remarks(notes, width)]


def versions(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client, API and version."""
    rows = facts.rows("readiness")
    if not rows:
        return []
    title = f"Readiness for Kafka {rows[0]['release']}, by API and version"
    return text_tables.titled(
        title,
        CELLS,
        [_cell(row) for row in rows[:limit]],
        len(rows),
        facts.ask(f"{COMMAND} --part versions --limit 0"),
        width,
    )


def _by_client(rows: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = (row["cluster"], row["client_address"], row["client_id"], row["principal"])
        found.setdefault(key, []).append(row)
    return found


def _verdict(rows: Rows) -> str:
    order = list(VERDICTS)
    return min((row["verdict"] for row in rows), key=order.index)


def _bad(verdict: str, clients: list[Rows], facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Clients of a verdict under what to do about it."""
    words, style = VERDICTS[verdict]
    by_cure: dict[tuple[str, str], list[Rows]] = {}
    for rows in clients:
        bad = [row for row in rows if row["verdict"] == verdict]
        why = "; ".join(dict.fromkeys(REASONS[row["reason"]] for row in bad))
        by_cure.setdefault((why, _cure(bad[0])), []).append(bad)
    lines = []
    for (why, cure), found in by_cure.items():
        lines += [Text(""), Text.assemble(text_tables.INDENT, (words, style), f": {things(len(found), 'client')}")]
        lines += text_tables.remarks(f"{why}. {cure}".strip(), width)
        lines += text_tables.table_of_filled(CLIENTS, [_client(rows) for rows in found[:limit]], width)
        lines += text_tables.more(len(found) - len(found[:limit]), facts.ask(f"{COMMAND} --limit 0"), width)
    return lines


def _counted(clients: int, words: str) -> str:
    """1 breaks, 4 break"""
    return f"{clients:,} {words if clients == 1 else words.replace('breaks', 'break')}"


def _client(rows: Rows) -> Row:
    row = rows[0]
    software = " ".join(part for part in (row["software_name"], row["software_version"]) if part)
    cells = [safe(row["client_id"]), safe(row["client_address"]), safe(row["principal"]), safe(software or None)]
    versions = f"{len(rows):,} versions: " if len(rows) > 1 else ""
    return Row([*cells, count(sum(row["requests"] for row in rows)), versions + ", ".join(map(_api, rows))])


def _api(row: dict[str, Any]) -> str:
    name = f"{safe(row['api_name'])} v{row['api_version']}"
    if row["oldest"] is None or row["oldest"] <= row["api_version"]:
        return name
    return f"{name} (removed)" if row["oldest"] == GONE else f"{name} (now v{row['oldest']}+)"


def _cure(row: dict[str, Any]) -> str:
    if row["cure"] == "configure":
        what = f"{row['library']}: {row['setting']}" if row["setting"] else "that version"
        return f"The client is newer than the protocol version that it is configured for: raise {what}."
    if row["cure"] == "upgrade" and row["library"] and not row["setting"]:
        return "Upgrade the client: it knows no newer version."
    if row["cure"] == "upgrade":
        what = f" ({row['library']}: {row['setting']})" if row["setting"] else ""
        return f"Upgrade the client, or raise its configured protocol version{what}."
    if row["verdict"] == "undetermined":
        return "Check the client software: Java clients from 2.1 on use newer versions where a broker offers them."
    return ""


def _fine(clients: list[Rows], width: int) -> list[Text]:
    if not clients:
        return []
    names = ", ".join(dict.fromkeys(safe(rows[0]["client_id"]) for rows in clients))
    words, style = VERDICTS["fine_as_far_as_seen"]
    first = Text.assemble(text_tables.INDENT, (words, style), f": {things(len(clients), 'client')}")
    return [Text(""), first, *(Text(text_tables.INDENT + line) for line in text_tables.wrap(names, width - 2))]


def _between_brokers(rows: Rows, width: int) -> list[Text]:
    if not rows:
        return []
    apis = ", ".join(sorted({f"{safe(row['api_name'])} v{row['api_version']}" for row in rows}))
    text = f"Between brokers, removed in this release (upgrading the cluster takes care of it): {apis}."
    return [Text(""), *text_tables.remarks(text, width)]


def _cell(row: dict[str, Any]) -> Row:
    software = " ".join(part for part in (row["software_name"], row["software_version"]) if part)
    oldest = row["oldest"]
    return Row(
        [
            safe(row["client_id"]),
            safe(row["client_address"]),
            safe(software or None),
            f"{safe(row['api_name'])} v{row['api_version']}",
            VERDICTS[row["verdict"]][0],
            "-" if oldest is None else "removed" if oldest == GONE else f"v{oldest}",
            count(row["requests"]),
            exchange_id(row["example_exchange"]),
        ]
    )


PARTS: dict[str, Callable[[Facts, int, int | None], list[Text]]] = {"clients": render, "versions": versions}
