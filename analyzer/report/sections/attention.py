"""What needs attention: the worst first, each with the command that shows more. Short on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from analyzer.expected import FAILURES
from analyzer.report import layout
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import argument, can_be_typed, client, duration, exchange_id, safe, share, things
from analyzer.report.sections import errors as error_section

HIGH, MEDIUM, LOW = "high", "medium", "low"
SEVERITIES = (HIGH, MEDIUM, LOW)
STYLES = {HIGH: "bold red", MEDIUM: "yellow", LOW: "cyan"}
# From here on a throttle is worth being woken for.
THROTTLED_SHARE, THROTTLED_NS = 0.05, 1_000_000_000
# An error that is neither normal nor always a failure may be a person trying something out; so often it is not.
OFTEN = 3


@dataclass(frozen=True, slots=True)
class Item:
    """`weight` orders items of one severity; the text holds captured strings made safe."""

    severity: str
    weight: int
    text: str
    command: str


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Numbered items, or one sentence when nothing needs attention."""
    items = sorted(
        [*_throttled(facts.rows("throttle")), *_errors(facts.rows("errors")), *_unanswered(facts), *_malformed(facts)],
        key=lambda item: (SEVERITIES.index(item.severity), -item.weight),
    )
    lines = [layout.heading("Needs attention", width)]
    if not items:
        text = "Nothing, in what could be read: no error beyond normal operation, no throttling, no request cut off."
        return lines + [Text(layout.INDENT + line) for line in layout.wrap(text, width - 2)]
    for number, item in enumerate(items[:limit], 1):
        lines += _lines(number, item, width)
    if limit is not None and len(items) > limit:
        rest = f"{layout.INDENT}... and {things(len(items) - limit, 'smaller matter')}, in the sections below"
        lines.append(Text(layout.cut(rest, width), style=layout.DIM))
    return lines


def _lines(number: int, item: Item, width: int) -> list[Text]:
    """The text, wrapped, with the command at its right or, where there is no room, on a line of its own."""
    prefix = f"{number:>3} {item.severity:<7} "
    texts = layout.wrap(item.text, width - len(prefix))
    lines = [Text.assemble(prefix[:4], (prefix[4:], STYLES[item.severity]), texts[0])]
    lines += [Text(" " * len(prefix) + text) for text in texts[1:]]
    if len(prefix) + cell_len(texts[-1]) + 3 + cell_len(item.command) <= width:
        lines[-1].append(f"   {item.command}", style=layout.DIM)
    elif item.command:
        lines.append(Text(layout.cut(" " * len(prefix) + item.command, width), style=layout.DIM))
    return lines


def _for_client(verb: str, row: dict[str, Any]) -> str:
    """The verb narrowed to a client, by id when it can be typed, else by address."""
    who = row["client_id"] if can_be_typed(row["client_id"]) else row["client_address"]
    return f"kanalyze {verb} --client {argument(who)}" if can_be_typed(who) else f"kanalyze {verb}"


def _throttled(rows: Rows) -> Iterator[Item]:
    by_client: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        by_client.setdefault((row["client_address"], row["client_id"], row["principal"]), []).append(row)
    for found in by_client.values():
        row = found[0]
        part, lasted_ns = row["share"], row["throttled_ns"]
        apis = ", ".join(safe(each["api_name"]) for each in found[:3])
        user = f", user {safe(row['principal'])}" if row["principal"] else ""
        replies = things(sum(each["throttled"] for each in found), "throttled reply", "throttled replies")
        of_time = "" if part is None else f" {share(part)} of its time"
        text = f"{client(row)} is throttled{of_time} ({apis}{user}): {replies}"
        if lasted_ns is not None:
            text += f", {duration(lasted_ns)}"
        long = lasted_ns is not None and lasted_ns >= THROTTLED_NS
        severity = HIGH if long and part is not None and part >= THROTTLED_SHARE else MEDIUM if long else LOW
        yield Item(severity, lasted_ns or 0, text, _for_client("throttle", row))


def _errors(rows: Rows) -> Iterator[Item]:
    by_code: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        if not error_section.is_expected(row):
            by_code.setdefault((row["api_name"], row["code"]), []).append(row)
    for (api, code), found in by_code.items():
        times = sum(row["count"] for row in found)
        topics = list(dict.fromkeys(row["topic"] for row in found if row["topic"] is not None))
        clients = list(dict.fromkeys(client(row) for row in found))
        about = f", topic {safe(topics[0])}{_others(topics)}" if topics else ""
        often = "once" if times == 1 else things(times, "time")
        text = f"{safe(api)} fails with error {error_section.name(found[0])}, {often}{about}"
        text += f", client {clients[0]}{_others(clients)}"
        command = f"kanalyze errors --api {argument(api)}" if can_be_typed(api) else "kanalyze errors"
        severity = HIGH if code in FAILURES else MEDIUM if times >= OFTEN else LOW
        yield Item(severity, times, text, command)


def _others(names: list[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""


def _unanswered(facts: Facts) -> Iterator[Item]:
    for row in facts.rows("unanswered"):
        lost = row["closed"] + row["abandoned"]
        if lost:
            text = f"{things(lost, safe(row['api_name']) + ' request')} had no answer when the connection ended"
            if row["longest_closed_ns"] is not None:
                text += f" (longest wait {duration(row['longest_closed_ns'])})"
            example = row["example_exchange"]
            command = f"kanalyze show CAPTURE {exchange_id(example)}" if example is not None else "kanalyze exchanges"
            yield Item(MEDIUM, lost, text, command)


def _malformed(facts: Facts) -> Iterator[Item]:
    found: dict[tuple[str, str | None, int | None], tuple[int, int]] = {}
    for row in facts.rows("decoding"):
        for word, how in (("request", row["request_decoded"]), ("reply", row["response_decoded"])):
            if how == "malformed":
                key = (word, row["api_name"], row["api_version"])
                number, example = found.get(key, (0, row["example_exchange"]))
                found[key] = (number + row["count"], example)
    for (word, api, version), (number, example) in found.items():
        plural = "replies" if word == "reply" else "requests"
        name = f"{safe(api)} v{version}" if version is not None else safe(api)
        text = f"{name}: {things(number, word, plural)} that do not follow the protocol"
        yield Item(MEDIUM, number, text, f"kanalyze show CAPTURE {exchange_id(example)}")
