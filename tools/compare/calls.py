"""The command lines that an input is asked: what both checkouts must answer alike.

`calls(unit)` is a generator: it is sent the standard output of each call, and takes from it what later calls need (ids of
exchanges, names of clients and topics). It runs beside the baseline; the other checkout is asked the same words.

A capture with Kafka is asked for the report at three widths, all tables, every verb's JSON, and by turns for `TURNS` and
others below: each capture takes one of every few, which ones depends on its name alone. One without Kafka answers most verbs
with an empty list, at the price of planning the question all the same: it takes verbs by turns too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from zlib import crc32

from compare.captures import EDGE, LARGE, PIECE, WORDS, Unit

# Where the tables of a unit are written, and read again as an input. Relative, as all paths are: both checkouts print the same.
TABLES = "tables"
REFERENCE = "samples/old_java.pcap.zst"
WIDTHS = (80, 120, 200)
JSON = ("--format", "json")

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A command line; `columns` wide is the terminal, `stdin` the file that standard input is (none: empty).

    `apart`: as a process of its own, which is slower and the only way to run what forks.
    """

    arguments: tuple[str, ...]
    columns: int = 120
    stdin: str = "/dev/null"
    apart: bool = False

    def __str__(self) -> str:
        words = [word if len(word) <= 60 else f"{word[:60]}..." for word in self.arguments]
        more = len(words) - 12
        if more > 0:
            words[6:-6] = [f"(and {more} more)"]
        stdin = "" if self.stdin == "/dev/null" else f" < {self.stdin}"
        return f"COLUMNS={self.columns} kanalyze {' '.join(words)}{stdin}"

    def as_json(self) -> Row:
        return asdict(self)


Calls = Generator[Call, bytes, None]

# Verbs whose rows are JSON with `--format json`; `exchanges` and `topics` are asked first, for the names that others need.
LISTS = (
    "brokers",
    "clients",
    "connections",
    "errors",
    "findings",
    "groups",
    "latency",
    "profile",
    "readiness",
    "throttle",
    "transactions",
    "unanswered",
)
# They write files of their own, tell of the machine, or run on: of these the help alone is compared.
HELP_ALONE = ("completion", "doctor", "extract", "help", "html", "redact", "trace", "watch")
OTHERS = (
    "check",
    "decode",
    "diff",
    "dump",
    "exchanges",
    "export",
    "report",
    "schema",
    "show",
    "spark",
    "sql",
    "topics",
)
LIMITS = ("--max-p99", "5ms", "--max-errors", "0", "--max-throttled", "5%", "--max-unanswered", "0", "--no-high")
SQL = (
    "select api_name, api_version, status, kind, client_id, request_decoded, response_decoded, count(*) as n, "
    "count(code) as errors, sum(total_ns) as total_ns, sum(service_ns) as service_ns, min(request_packet) as packet "
    "from exchanges left join errors using (exchange) group by all order by all"
)
TABLE_NAMES = (
    "captures",
    "connections",
    "exchanges",
    "entries",
    "errors",
    "problems",
    "batches",
    "group_events",
    "logins",
)

# Asked of the exported tables, by turns.
TURNS: tuple[tuple[str, ...], ...] = (
    *((verb,) for verb in (*LISTS, "report", "exchanges", "topics")),
    *((verb, "--limit", "3") for verb in ("errors", "exchanges", "topics", "profile")),
    *(
        ("latency", "--by", by, *JSON)
        for by in ["api", "version", "client", "principal", "broker", "topic", "group", "connection"]
    ),
    *(("profile", "--by", by, *JSON) for by in ["version", "principal", "broker", "topic", "group", "connection"]),
    *(("errors", "--by", by, *JSON) for by in ["topic", "partition", "group", "client", "principal", "broker"]),
    *(("throttle", "--by", by, *JSON) for by in ["api", "client", "principal", "broker"]),
    *(("brokers", "--by", by, *JSON) for by in ["version", "topic", "connection"]),
    *(("groups", "--part", part, *JSON) for part in ["rebalances", "members", "timeline"]),
    *(("topics", "--part", part, *JSON) for part in ["producers", "consumers", "partitions", "lag", "delivery"]),
    *(("transactions", "--part", part, *JSON) for part in ["list", "producers"]),
    *(("readiness", "--broker-version", release, *JSON) for release in ["3.9", "4.0.0", "4.1"]),
    *((verb, "--every", "1s", *JSON) for verb in ("latency", "errors", "throttle")),
    ("latency", "--every", "1s"),
    ("latency", "--by", "client", "--by", "topic"),
    ("latency", "--of", "service", *JSON),
    ("latency", "--of", "total", "--by", "broker"),
    ("groups", "--group", "*"),
    ("topics", "--topic", "*"),
    ("check", *LIMITS),
    ("sql", SQL),
    *((verb, "--format", form) for verb in ("clients", "exchanges", "findings") for form in ("jsonl", "csv")),
    ("report", "--format", "jsonl"),
    *(("export", "--table", name, "--format", form) for name in TABLE_NAMES for form in ("jsonl", "csv")),
)
# Limits that are met: what each stage then gives up, and what is said of it.
TIGHT = (
    ("--max-connections", "4"),
    ("--max-reassembly", "16k"),
    ("--max-frame", "512"),
    ("--reorder-packets", "1", "--reorder-time", "1ms"),
)


def calls(unit: Unit) -> Calls:
    if unit.kind == WORDS:
        yield from of_words()
    elif unit.kind == LARGE:
        yield from of_large(unit)
    else:
        yield from of_capture(unit)


def of_capture(unit: Unit) -> Calls:
    given = (*unit.inputs, *unit.options)
    for width in WIDTHS:
        yield Call(("report", *given), width)
    yield Call(("report", *given, *JSON))
    yield Call(("export", *given, "--to", TABLES))
    rows = rows_of((yield Call(("exchanges", *given, *JSON))))
    yield Call(("dump", *given, "--records"))
    yield Call(("spark", *given, "--plan", "--task-size", "256k"))
    if unit.kind == EDGE and not rows:
        yield from without_kafka(unit)
        return
    topics = rows_of((yield Call(("topics", TABLES, *JSON))))
    yield from verbs(unit)
    for limits in by_turns(unit, TIGHT, 2):
        yield Call(("exchanges", *given, *JSON, *limits))
    yield from shown(unit, rows)
    yield from filtered(unit, rows, topics)
    for verb, *words in by_turns(unit, TURNS, 10):
        yield Call((verb, TABLES, *words))


def verbs(unit: Unit) -> Calls:
    """Every verb's JSON, asked of the capture or of its tables, by turns: a capture is read again for each question."""
    asked = (
        *((verb, (), JSON) for verb in LISTS),
        ("sql", (SQL,), JSON),
        ("check", (), (*LIMITS, "--broker-version", "4.4", *JSON)),
        *(("diff", (REFERENCE,), JSON) for _ in range(turn(unit) % 3 == 0)),
    )
    for number, (verb, words, options) in enumerate(asked):
        if unit.kind == PIECE or (number + turn(unit)) % 3 or (verb == "diff" and len(unit.inputs) > 1):
            yield Call((verb, TABLES, *words, *options))
        else:
            yield Call((verb, *unit.inputs, *words, *unit.options, *options))


def without_kafka(unit: Unit) -> Calls:
    given = (*unit.inputs, *unit.options)
    asked = (
        *((verb, *given, *JSON) for verb in (*LISTS, "topics")),
        ("sql", *given, SQL, *JSON),
        ("check", *given, *LIMITS, *JSON),
        ("diff", *given, REFERENCE, *JSON),
        ("show", *given, "#1"),
        ("exchanges", *given),
        ("report", *given, "--ports", "80,8080,4222", *JSON),
    )
    for arguments in by_turns(unit, asked, 4):
        yield Call(arguments)
    for verb, *words in by_turns(unit, TURNS, 40):
        yield Call((verb, TABLES, *words))


def shown(unit: Unit, rows: list[Row]) -> Calls:
    """Single exchanges, by id and by packet, here and there in the capture."""
    given = (*unit.inputs, *unit.options)
    if not rows:
        yield Call(("show", *given, "#1"))
        return
    start, failed = turn(unit), [row for row in rows if row["error_code"]]
    yield Call(("show", *given, rows[start % len(rows)]["exchange"]))
    yield Call(("show", *given, (failed or rows)[start // 7 % len(failed or rows)]["exchange"], *JSON))
    if start % 4 == 0:
        yield Call(("show", *given, f"#{rows[start // 3 % len(rows)]['request_packet'] or 1}"))


def filtered(unit: Unit, rows: list[Row], topics: list[Row]) -> Calls:
    """The same questions about a part of the capture. Names are taken from its own answers."""
    given = (*unit.inputs, *unit.options)
    names = Counter(row["client_id"] for row in rows if row["client_id"])
    client = names.most_common(1)[0][0] if names else "nobody"
    api = next((row["api_name"] for row in rows[turn(unit) % (len(rows) or 1) :] if row["api_name"]), "Fetch")
    topic = next((row["topic"] for row in topics if row["topic"]), "*")
    times = sorted(row["request_time_ns"] for row in rows if row["request_time_ns"])
    ports = sorted({str(row["broker_port"]) for row in rows})
    chosen = (
        ("report", *given, "--client", client),
        ("report", *given, "--api", api, "--broker", "*:*"),
        ("report", *given, "--topic", topic, *JSON),
        ("topics", *given, "--topic", topic),
        ("groups", *given, "--group", "*g*"),
        ("clients", *given, "--from", moment(times, 1), "--to", moment(times, 3)),
        ("latency", *given, "--to", moment(times, 2), "--client", client),
        ("exchanges", *given, "--ports", ",".join(ports[:1] or ["9092"]), *JSON),
        ("exchanges", *given, "--limit", "20"),
    )
    for words in by_turns(unit, chosen, 4):
        yield Call(words)
    if len(unit.inputs) == 1 and not unit.options and turn(unit) % 4 == 1:
        yield Call(("exchanges", "-", *JSON), stdin=unit.inputs[0])
        yield Call(("show", "-", "#4"), stdin=unit.inputs[0])


def of_large(unit: Unit) -> Calls:
    given = (*unit.inputs, *unit.options)
    for width in WIDTHS if unit.name != "made/large.pcap" else WIDTHS[1:2]:
        yield Call(("report", *given), width, apart=True)
    yield Call(("report", *given, *JSON), apart=True)
    yield Call(("findings", *given, *JSON), apart=True)
    yield Call(("export", *given, "--to", TABLES), apart=True)
    yield Call(("spark", *given, "--plan", "--task-size", "4MB"), apart=True)
    if unit.name == "samples":
        yield Call(("samples",), apart=True)
        yield Call(("report", *given, "--jobs", "1"), apart=True)
        yield Call(("dump", *given), apart=True)


def of_words() -> Calls:
    """What is told without a capture: help, mistakes, schemas, messages in hex."""
    text = (yield Call(("--help",), 80)).decode()
    verbs = re.findall(r"^  ([a-z-]+)  ", text.partition("Commands:")[2], re.MULTILINE)
    if unknown := set(verbs) - {*LISTS, *OTHERS, *HELP_ALONE}:
        raise SystemExit(f"not compared: {', '.join(sorted(unknown))}; say in tools/compare/calls.py how to call it")
    for verb in verbs:
        yield Call((verb, "--help"), 80)
    for arguments in MISTAKES:
        yield Call(arguments, 80)
    yield Call(("decode",), stdin="made/lines.jsonl")
    for path in ("made/vectors-3.9.1.jsonl", "made/vectors-4.3.1.jsonl", "made/vectors-4.4.0.jsonl"):
        yield Call(("decode", path))
        yield Call(("decode", path, "--records"))
    listing = (yield Call(("schema",))).decode()
    for key, name in re.findall(r"^ *(\d*)  +(\w+) +versions", listing, re.MULTILINE):
        yield Call(("schema", name))
        if key:
            yield Call(("schema", key, "--version", str(int(key) % 4)))


MISTAKES: tuple[tuple[str, ...], ...] = (
    (),
    ("--version",),
    ("exchange",),
    ("report",),
    ("report", "missing.pcap"),
    ("report", "samples/README.md"),
    ("report", REFERENCE, "missing.pcap", "samples/README.md"),
    ("report", REFERENCE, "--no-such-option"),
    ("report", REFERENCE, "--max-frame", "some"),
    ("report", REFERENCE, "--from", "yesterday"),
    ("report", REFERENCE, "--tap", "name"),
    ("latency", REFERENCE, "--by", "weather"),
    ("latency", REFERENCE, "--every", "1ms"),
    ("show", REFERENCE, "nothing"),
    ("show", REFERENCE, "0000000000000000"),
    ("export", REFERENCE),
    ("export", REFERENCE, "--to", "made"),
    ("check", REFERENCE),
    ("check", REFERENCE, "--max-p99", "often"),
    ("sql", REFERENCE, "select nothing from nowhere"),
    ("sql", REFERENCE, "delete from exchanges"),
    ("schema", "Fetsh"),
    ("schema", "Fetch", "--version", "99"),
    ("decode", "missing.jsonl"),
    ("spark", REFERENCE),
)

# Messages that need no folder of vectors: ApiVersions v0, the same cut off, one with too much, and lines that ask nothing.
LINES = (
    '{"api_key": 18, "version": 0, "direction": "request", "hex": "00120000000000010003616263"}',
    '{"api_key": 18, "version": 0, "direction": "request", "hex": "001200000000"}',
    '{"api_key": 18, "version": 0, "direction": "request", "hex": "00120000000000010003616263ffff"}',
    '{"api_key": 18, "version": 99, "direction": "response", "hex": "0000000100230000"}',
    '{"api_key": 999, "version": 0, "direction": "response", "hex": "00000001"}',
    '{"api_key": 18, "version": 0, "direction": "sideways", "hex": "00"}',
    '{"api_key": "18"}',
    "no JSON",
)


def rows_of(answer: bytes) -> list[Row]:
    """The rows of a JSON answer; none where the verb failed."""
    try:
        found = json.loads(answer)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def turn(unit: Unit) -> int:
    """A number that depends on the name alone, so that a cache and a shorter run hold the same calls."""
    return crc32(unit.name.encode())


def by_turns(unit: Unit, of: Sequence[T], every: int) -> Iterator[T]:
    """One of `every` elements, beginning somewhere."""
    return iter(of[turn(unit) % every :: every])


def moment(times: list[int], quarter: int) -> str:
    """A time after so many quarters of the requests, in the words of `--from`."""
    if not times:
        return "2026-01-01"
    from datetime import UTC, datetime

    seconds, ns = divmod(times[(len(times) - 1) * quarter // 4], 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ns:09}"
