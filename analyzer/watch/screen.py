"""What is watched on one screen, as lines that fit: what could not be read and what was found come first, then latency, throttling,
errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.text import Text

from analyzer.base.text import printable
from analyzer.base.wait_kinds import WAIT
from analyzer.report import text_tables
from analyzer.report.dimension_columns import api
from analyzer.report.format import clock, count, duration, rate, safe, share, short_count, size, things
from analyzer.report.readability_words import sentence as sentence_of
from analyzer.report.sections.attention import STYLES
from analyzer.report.sections.findings import block
from analyzer.report.sentences import sentence
from analyzer.report.text_tables import Column, Row

if TYPE_CHECKING:
    from analyzer.watch.answers import Answer
    from analyzer.watch.findings_log import Told
    from analyzer.watch.told import Pulse

NARROWEST, LOWEST = 60, 12
SORTS = ("count", "p99", "errors", "name")
KEYS = "q report   f freeze   s sort by {sort}   / filter   1-9 open a finding"
# Reading that is behind by less is at most a block behind.
BEHIND_BYTES = 4_000_000
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SPARK_WIDTH = 16
_NS = 1_000_000_000


@dataclass(slots=True)
class Shown:
    """What a person has chosen to see. `typed` is a filter that is being typed, None: none is; `opened` the number of a finding."""

    sort: str = SORTS[0]
    chosen: str = ""
    typed: str | None = None
    opened: int | None = None
    frozen: bool = False


@dataclass(slots=True)
class Scene:
    """What there is to show."""

    names: Sequence[str]
    answer: Answer | None
    pulses: Sequence[Pulse]
    shown: Shown = field(default_factory=Shown)
    trouble: str | None = None
    note: str | None = None


def lines(scene: Scene, width: int, height: int) -> list[Text]:
    """At most `height` lines of at most `width` cells."""
    width, height = max(width, NARROWEST), max(height, LOWEST)
    head = [*_title(scene, width), *_verdict(scene, width), *_rates(scene, width)]
    foot = [_footer(scene, width)]
    room = height - len(head) - len(foot)
    body = _opened(scene, width) if scene.shown.opened is not None else _body(scene, width, room)
    return [_fitting(line, width) for line in [*head, *(body + [Text("")] * room)[:room], *foot]]


def _fitting(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line


def _title(scene: Scene, width: int) -> list[Text]:
    names = ", ".join(map(printable, scene.names))
    pulse = scene.pulses[-1]
    now = f"{clock(pulse.latest_ns)} UTC" if pulse.latest_ns is not None else "waiting for packets"
    frozen = "   FROZEN" if scene.shown.frozen else ""
    end = f"   {now}{frozen}"
    return [Text(text_tables.cut(f"kanalyze watch  {names}", width - cell_len(end)) + end, style=text_tables.HEADING)]


def _verdict(scene: Scene, width: int) -> list[Text]:
    pulse, told = scene.pulses[-1], []
    if pulse.lost_files:
        told.append(
            f"{things(pulse.lost_files, 'capture file')} ({size(pulse.lost_bytes)}) overwritten before they were read."
        )
    if pulse.is_full:
        told.append("The spool was full: the capturer may have dropped packets; raise --spool.")
    if pulse.trouble:
        told.append(printable(pulse.trouble))
    if scene.note:
        told.append(f"Recorded: {printable(scene.note)}")
    if scene.trouble:
        told.append(printable(scene.trouble))
    answer = scene.answer
    if answer is not None and (words := sentence_of(answer.readable)):
        told.append(words)
    if not told and answer is not None:
        return [Text("All that matters of the capture could be read.", style=text_tables.DIM)]
    return [Text(line, style=text_tables.HEADING) for text in told for line in text_tables.wrap(text, width)[:2]][:4]


def _rates(scene: Scene, width: int) -> list[Text]:
    first, last = scene.pulses[0], scene.pulses[-1]
    seconds = (last.read_ns - first.read_ns) / _NS
    parts = []
    if seconds > 0 and first.read_ns:
        each = [(getattr(last, name) - getattr(first, name)) / seconds for name in ("requests", "bytes", "segments")]
        parts += [f"{_rate(each[0])} requests/s", f"{size(round(each[1]))}/s", f"{_rate(each[2])} packets/s"]
    parts.append(f"{short_count(last.requests)} requests so far")
    if last.waiting_bytes > BEHIND_BYTES:
        behind = f", {duration(round(last.waiting_bytes / each[1] * _NS))} of reading" if parts[1:] and each[1] else ""
        parts.append(f"behind by {size(last.waiting_bytes)}{behind}")
    answer = scene.answer
    if answer is not None and answer.begin_ns is not None and answer.end_ns is not None:
        length = duration(answer.end_ns - answer.begin_ns)
        parts.append(f"below: {clock(answer.begin_ns)} to {clock(answer.end_ns)} ({length})")
    return text_tables.flow(parts, width)


def _rate(per_second: float) -> str:
    return rate(per_second) if per_second else "0"


def _footer(scene: Scene, width: int) -> Text:
    shown = scene.shown
    if shown.typed is not None:
        return Text(
            text_tables.cut(f"filter: {printable(shown.typed)}_   Enter applies, Esc leaves", width), style="reverse"
        )
    if shown.opened is not None:
        return Text("Esc back   q report", style="reverse")
    chosen = f"   only: {printable(shown.chosen)}" if shown.chosen else ""
    return Text(text_tables.cut(KEYS.format(sort=shown.sort) + chosen, width), style="reverse")


def _opened(scene: Scene, width: int) -> list[Text]:
    told = numbered(scene).get(scene.shown.opened or 0)
    if told is None:
        return [Text("There is no such finding.")]
    return block(scene.shown.opened or 0, told.finding, width)


def numbered(scene: Scene) -> dict[int, Told]:
    """The findings by the number that they have on the screen."""
    if scene.answer is None:
        return {}
    found = [each for each in scene.answer.findings if each.finding.severity != "info"]
    return dict(enumerate((each for each in found if _is_chosen(scene, _said(each))), 1))


def _body(scene: Scene, width: int, room: int) -> list[Text]:
    if scene.answer is None:
        return [Text(""), Text("The first answer comes when the first packets were read.", style=text_tables.DIM)]
    # What was found comes first, but leaves half of the screen to what is going on.
    found = _findings(scene, width, max(3, room * 2 // 5))
    small = [*_throttled(scene, width, max(1, room // 10)), *_errors(scene, width, max(2, room // 6))]
    return [*found, *_latency(scene, width, room - len(found) - len(small)), *small]


def _is_chosen(scene: Scene, text: str) -> bool:
    return scene.shown.chosen.lower() in text.lower()


def _said(told: Told) -> str:
    return sentence(told.finding.rule.says, told.finding.row)


def _findings(scene: Scene, width: int, room: int) -> list[Text]:
    assert scene.answer is not None
    now = scene.pulses[-1].latest_ns or scene.answer.end_ns or 0
    found = numbered(scene)
    if not found:
        nothing = "Nothing found" if scene.answer.is_readable else "Nothing found in what could be read"
        return [Text(f"{nothing} in this time.", style=text_tables.DIM)]
    lines: list[Text] = []
    for place, told in found.items():
        severity = told.finding.severity
        state = "over" if told.over else f"for {duration(told.age_ns(now))}"
        prefix = f"{place:>2} {severity:<6} {state:<12} "
        texts = text_tables.wrap(_said(told), width - len(prefix))
        texts = texts if len(texts) < 3 else [texts[0], text_tables.cut(" ".join(texts[1:]), width - len(prefix))]
        left = len(found) - place
        if len(lines) + len(texts) + (left > 0) > room and lines:
            return [*lines, Text(f"   ... and {things(left + 1, 'more finding')}", style=text_tables.DIM)]
        style = text_tables.DIM if told.over else STYLES[severity]
        lines.append(Text.assemble(prefix[:3], (prefix[3:], style), texts[0]))
        lines += [Text(" " * len(prefix) + text) for text in texts[1:]]
    return lines


_COLUMNS = (
    Column("API", least=18),
    Column("req/s", right=True, spare=1),
    Column("p50", right=True),
    Column("p99", right=True),
    Column("max", right=True, spare=3),
    Column("errors", right=True, spare=2),
    Column("p99 over this time", spare=4),
)


def _latency(scene: Scene, width: int, room: int) -> list[Text]:
    assert scene.answer is not None
    rows = [row for row in scene.answer.latency if _is_chosen(scene, api(row))]
    order = {"count": _by_count, "p99": _by_p99, "errors": _by_errors, "name": _by_name}[scene.shown.sort]
    rows = sorted(rows, key=lambda row: (row["reach"] == WAIT, *order(row)))
    if not rows or room < 2:
        return []
    sparks = _sparks(scene.answer)
    kept = rows[: max(room - 2, 1)] if len(rows) > room - 1 else rows
    # Some room for waits by design, which come last.
    waits = [row for row in rows if row["reach"] == WAIT]
    if kept and waits and waits[0] not in kept and len(kept) > 4:
        kept = [*kept[:-1], waits[0]]
    cells = [Row(_cells(row, sparks), text_tables.DIM if row["reach"] == WAIT else "") for row in kept]
    table = text_tables.table(_COLUMNS, cells, width)[: len(kept) + 1]
    hidden = len(rows) - len(kept)
    return [*table, *([Text(f"  ... and {hidden:,} more", style=text_tables.DIM)] if hidden else [])][:room]


def _cells(row: dict[str, Any], sparks: dict[tuple[str, str], str]) -> list[str]:
    waits = row["reach"] == WAIT
    name = f"{api(row)} (waits by design)" if waits and len(api(row)) < 22 else api(row)
    times = [duration(row[name]) for name in ("p50_ns", "p99_ns", "max_ns")]
    return [name, rate(row["rate_per_s"]), *times, count(row["errors"]), sparks.get((row["api_name"], row["kind"]), "")]


def _by_count(row: dict[str, Any]) -> tuple[Any, ...]:
    return (-row["count"], row["api_name"] or "")


def _by_p99(row: dict[str, Any]) -> tuple[Any, ...]:
    return (-(row["p99_ns"] or 0), row["api_name"] or "")


def _by_errors(row: dict[str, Any]) -> tuple[Any, ...]:
    return (-(row["errors"] or 0), -row["count"])


def _by_name(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["api_name"] or "", row["kind"] or "")


def _sparks(answer: Answer) -> dict[tuple[str, str], str]:
    """API and kind -> a line of p99 over the time that is looked at, on a logarithmic scale between its least and greatest."""
    if answer.begin_ns is None or answer.end_ns is None:
        return {}
    origin = answer.begin_ns - answer.begin_ns % answer.slot_ns
    length = max(answer.end_ns - origin, 1)
    found: dict[tuple[str, str], dict[int, int]] = {}
    for row in answer.over_time:
        if row["p99_ns"]:
            place = min((row["slot_ns"] - origin) * _SPARK_WIDTH // length, _SPARK_WIDTH - 1)
            points = found.setdefault((row["api_name"], row["kind"]), {})
            points[place] = max(points.get(place, 0), row["p99_ns"])
    return {key: spark(points) for key, points in found.items()}


def spark(points: dict[int, int]) -> str:
    """Points at places of a line; a place without one is empty."""
    logs = {place: math.log2(value) for place, value in points.items()}
    low, high = min(logs.values()), max(logs.values())
    steps = len(_BLOCKS) - 2
    scale = steps / max(high - low, 2.0)  # less than a factor of four is not the whole height
    return "".join(
        _BLOCKS[1 + round((logs[place] - low) * scale)] if place in logs else " " for place in range(_SPARK_WIDTH)
    )


def _throttled(scene: Scene, width: int, room: int) -> list[Text]:
    assert scene.answer is not None
    clients: dict[str, float] = {}
    for row in scene.answer.throttle:
        name = safe(row["client_id"] or row["client_address"])
        clients[name] = max(clients.get(name, 0), row["share"] or 0)
    worst = sorted(clients, key=lambda name: -clients[name])
    chosen = [name for name in worst if _is_chosen(scene, name)]
    if not chosen:
        return []
    told = [f"{name} {share(clients[name])} of its time" for name in chosen[:8]]
    more = f" and {len(chosen) - 8} more" if len(chosen) > 8 else ""
    texts = text_tables.wrap(f"Throttled: {', '.join(told)}{more}", width)
    return [Text(line, style="yellow") for line in texts[:room]]


def _errors(scene: Scene, width: int, room: int) -> list[Text]:
    assert scene.answer is not None
    rows = [row for row in scene.answer.errors if row["unexpected"] and not row["between_brokers"]]
    lines = []
    # The newest first.
    for row in sorted(rows, key=lambda row: -(row["last_time_ns"] or 0)):
        about = ", ".join(safe(row[name]) for name in ("topic", "client_id") if row[name])
        text = f"{row['code']} {safe(row['name'])}  {safe(row['api_name'])}  {about}"
        if _is_chosen(scene, text):
            end = f"  {count(row['unexpected'])} times, last {clock(row['last_time_ns'])}"
            lines.append(Text(f"  {text_tables.cut(text, width - 2 - cell_len(end))}{end}"))
    if not lines:
        return []
    hidden = len(lines) - (room - 1)
    head = f"Errors{f' (the newest; {hidden:,} more)' if hidden > 0 else ''}"
    return [Text(head, style=text_tables.HEADING), *lines[: room - 1]]
