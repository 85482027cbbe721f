"""Clients by address, client id, user and software; of a few of them, what they ask for in which versions."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.base.wait_kinds import kind_of
from analyzer.names.name_table import who
from analyzer.report import text_tables
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, beside, client, count, duration, rate, safe, size, things
from analyzer.report.readability_words import remark
from analyzer.report.sentences import command
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze clients"
NOTHING = "No client requests in this capture; requests between brokers are listed separately."
INSTEAD = "kanalyze brokers"
COLUMNS = (
    Column("client", least=12),
    Column("address", least=15),
    Column("user", least=8, spare=2),
    Column("application", least=12, spare=1),
    Column("library", least=10),
    Column("connections", right=True, spare=6),
    Column("requests", right=True),
    Column("waited", right=True),
    Column("sent", right=True, spare=3),
    Column("received", right=True, spare=4),
    Column("errors", right=True),
    Column("throttled", right=True, spare=1),
    Column("no reply", right=True, spare=5),
)
WAITED = "waited: sum of the latencies of all requests, without waits by design."
# So many clients are few enough to be told in full.
FEW = 5
# A connection that asks for metadata this often, or lives this short, is worth a word; findings decide whether it is wrong.
METADATA_PER_S, SHORT_NS, MANY = 1.0, 5_000_000_000, 10
MOST_BURSTS = 3


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client; who waited longest comes first, where nothing else was asked for."""
    rows = facts.rows("clients")
    if not rows:
        return []
    lines = [text_tables.heading("Clients", width)]
    lines += table(rows[:limit], width)
    shown = len(rows) if limit is None else min(limit, len(rows))
    return lines + text_tables.more(rows[0]["total_rows"] - shown, facts.ask(COMMAND), width)


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The table, what stands out of it, and when there are few clients, each of them in full."""
    rows = facts.rows("clients")
    lines = render(facts, width, limit)
    noted = facts.rows("clients_of_note")
    for row in noted[:limit]:
        lines += text_tables.remarks(_noted(row), width)
    if not rows:
        return lines
    told = {row["who"] for row in noted if row["what"] == "metadata"}
    for row in rows[:limit]:
        if words := _notable(row, (row["client_id"] or row["client_address"]) in told):
            lines += text_tables.remarks(f"{client(row)} ({safe(row['client_address'])}): {', '.join(words)}.", width)
    if len(rows) <= FEW:
        versions, bursts = facts.rows("client_versions"), facts.rows("client_bursts")
        for row in rows:
            lines += [Text(""), *_whole(row, _of(row, versions), _of(row, bursts), width)]
        return lines
    text = "Next, APIs, versions, acks and batches of one client"
    return lines + text_tables.suggestion(
        text, facts.ask(command(f"{COMMAND}[ --client {{client_id}}]", rows[0])), width
    )


def table(rows: Rows, width: int) -> list[Text]:
    """A line per client, of rows of metric clients or top_clients."""
    lines = text_tables.table_of_filled(COLUMNS, [_line(row) for row in rows], width)
    return lines + text_tables.remarks(f"{WAITED} {remark(rows)}".strip(), width)


def _line(row: dict[str, Any]) -> Row:
    answered = (row["response_bytes"] or 0) > 0
    return Row(
        [
            client(row),
            beside(safe(row["client_address"]), row),
            safe(row["principal"]),
            safe(_application(row)),
            safe(_library(row)),
            count(row["connections"]),
            count(row["requests"]),
            duration(row["waited_ns"]),
            size(row["request_bytes"]),
            size(row["response_bytes"]),
            count(row["errors"]),
            count(row["throttled"]),
            count(row["unanswered"] if answered or row["unanswered"] else None),
        ]
    )


def _software(row: dict[str, Any]) -> str | None:
    if row["inferred_library"] is not None:
        return f"{row['inferred_library']} (inferred)"
    return " ".join(part for part in (row["software_name"], row["software_version"]) if part) or None


def _application(row: dict[str, Any]) -> str | None:
    """By the client id or the group it is known; by the host it is a conclusion."""
    return f"{row['application']} (inferred)" if row["application_from"] == "host" else row["application"]


def _library(row: dict[str, Any]) -> str | None:
    """In a table Apache's clients go by their language: java 4.3.1."""
    return (_software(row) or "").removeprefix("apache-kafka-") or None


def _noted(row: dict[str, Any]) -> str:
    """A row of metric clients_of_note in words."""
    api = f"{safe(row['api_name'])} v{row['api_version']}"
    number = row["requests"]
    if row["what"] == "default_id":
        told = f"client.id is the library's default ({safe(row['who'])}): {things(number, 'client')}."
        return f"{told} Set it: quotas, the broker's logs and these tables tell clients apart by it."
    if row["what"] == "malformed":
        return f"{api}: {things(number, 'message')} could not be decoded as the protocol defines."
    if row["what"] == "outside":
        offered = f"v{row['min_version']} to v{row['max_version']}"
        return f"{safe(row['who'])}: {things(number, 'request')} of {api}, although the broker supports {offered}."
    most = f"up to {rate(row['most_per_s'])}/s"
    if row["what"] == "tiny":
        return f"{safe(row['who'])}: Produce requests of less than 1 kB, {most} ({things(number, 'request')})."
    requests = things(number, "Metadata request")
    return f"{safe(row['who'])}: {requests} on one connection, {most} over {duration(row['over_ns'])}."


def _notable(row: dict[str, Any], is_told: bool) -> list[str]:
    """`is_told`: how often it asks for metadata was said before."""
    words = []
    if not is_told and (row["metadata_per_s"] or 0) >= METADATA_PER_S:
        words.append(f"sends {rate(row['metadata_per_s'])} Metadata requests per second on one connection")
    life = row["median_life_ns"]
    if row["connects"] >= MANY and life is not None and life < SHORT_NS:
        words.append(f"{things(row['connects'], 'connection')} opened, half of them for at most {duration(life)}")
    return words


def _of(row: dict[str, Any], rows: Rows) -> Rows:
    """Those of one client."""
    names = ("client_address", "client_id", "principal", "software_name", "software_version")
    return [each for each in rows if all(each[name] == row[name] for name in names)]


def _whole(row: dict[str, Any], versions: Rows, bursts: Rows, width: int) -> list[Text]:
    """A client as a block of short lines."""
    facts = [
        ("identity", _identity(row)),
        ("connections", _connections(row)),
        ("traffic", _traffic(row)),
        ("writes", _writes(row)),
        ("APIs", ", ".join(_apis(versions)) or NONE),
        ("bursts", _bursts(bursts)),
        ("large", ", ".join(_large(versions))),
    ]
    lines = [text_tables.heading(client(row), width)]
    for title, text in facts:
        if text:
            room = width - len(text_tables.INDENT) - 13
            first, *rest = text_tables.wrap(text, room)
            lines.append(Text(f"{text_tables.INDENT}{title:<13}{first}"))
            lines += [Text(f"{text_tables.INDENT}{'':<13}{line}") for line in rest]
    return lines


def _identity(row: dict[str, Any]) -> str:
    parts = [safe(row["client_address"]), *_named(row), safe(_software(row) or "unknown software")]
    if row["principal"] is not None:
        parts.append(f"user {safe(row['principal'])}")
    elif row["claimed_user"] is not None:
        parts.append(f"user {safe(row['claimed_user'])} (claimed; no successful login in the capture)")
    if row["sasl_mechanism"] is not None:
        parts.append(safe(row["sasl_mechanism"]))
    if row["security"] is not None:
        parts.append(safe(row["security"]).upper())
    return ", ".join(parts)


def _named(row: dict[str, Any]) -> list[str]:
    """shop/cart-7f9, deployment/cart, zone eu-1a: the names of its address."""
    zone = None if row["client_zone"] is None else f"zone {row['client_zone']}"
    return [safe(each) for each in (who(row), row["client_workload"], zone) if each is not None]


def _connections(row: dict[str, Any]) -> str:
    text = f"{things(row['connections'], 'connection')}, {row['connects']:,} opened in the capture"
    if row["median_life_ns"] is not None:
        text += f", median life {duration(row['median_life_ns'])}"
    if row["connects"] >= MANY:
        text += f", up to {rate(row['connects_per_s'])}/s over {duration(row['over_ns'])}"
    if row["metadata_per_s"]:
        text += f"; Metadata at most {rate(row['metadata_per_s'])}/s per connection"
    return text


def _traffic(row: dict[str, Any]) -> str:
    text = f"{things(row['requests'], 'request')} ({rate(row['rate_per_s'])}/s), sent {size(row['request_bytes'])}, "
    received = row["response_bytes"]
    text += "received not known" if received is None else f"received {size(received)}"
    if row["errors"] is not None:
        text += f", {things(row['errors'], 'reply', 'replies')} with an error"
    if row["throttled"] is not None:
        text += f", {row['throttled']:,} throttled"
    if row["topics"] is not None:
        text += f"; {things(row['topics'], 'topic')}, {things(row['groups'], 'group')}"
        if row["group_id"] is not None:
            text += f" ({safe(row['group_id'])})"
    return text


def _writes(row: dict[str, Any]) -> str:
    acks = [(row[name], words) for name, words in (("acks_all", "all"), ("acks_1", "1"), ("acks_0", "0"))]
    parts = [f"acks={words} {number:,}" for number, words in acks if number]
    if not parts:
        return ""
    if row["produce_bytes"] is not None:
        parts.append(f"{size(row['produce_bytes'])} of records per request")
    if row["batches"]:
        parts.append(f"{size(row['batch_bytes'])} per batch")
        if row["records"] is not None:
            parts.append(f"{rate(row['records'] / row['batches'])} records per batch")
    return ", ".join(parts)


def _apis(rows: Rows) -> list[str]:
    """Produce v9-v11 (1,234): an API once, with its versions."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["api_name"], []).append(row)
    texts = []
    for name, mine in found.items():
        versions = sorted({row["api_version"] for row in mine if row["api_version"] is not None})
        words = ", ".join(f"v{version}" for version in versions)
        texts.append(f"{safe(name)} {words} ({sum(row['count'] for row in mine):,})")
    return texts


def _bursts(rows: Rows) -> str:
    """What it sends most of in a second, the most frequent first."""
    texts = []
    for row in rows[:MOST_BURSTS]:
        words = kind_of(row["kind"]).words
        name = f"{safe(row['api_name'])}{f', {words}' if words else ''}"
        texts.append(f"{name} up to {rate(row['most_per_s'])}/s ({row['count']:,} in all)")
    return f"{'; '.join(texts)}; on one connection in one second" if texts else ""


def _large(rows: Rows) -> list[str]:
    """Its APIs with messages beyond 10 MB."""
    return [
        f"{safe(row['api_name'])} v{row['api_version']} up to {size(row['greatest_bytes'])} ({row['large']:,} over 10 MB)"
        for row in rows
        if row["large"]
    ]
