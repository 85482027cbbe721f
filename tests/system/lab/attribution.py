"""Whose time it was, against the broker's own log: the table of each lab capture, and what a right answer is.

Two truths bound the time that a request spent in the broker's host. T is `totalTimeMs` of the log, which begins when a thread has
read the request. H begins when the request is complete in the broker's kernel, or when the connection's reply before it is done,
and ends with T; what lies between is the time in the socket. A value is right from T to H, within 2 ms or a tenth of H. Brokers
before 2.0 hold a throttled reply: that is throttle, and in neither.

`python tests/system/lab/attribution.py [NAME ...]` prints the table of captures, `--ways FOLDER` that of what `lab/ways.py` made.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from agreement import Exchange, connection_name, match, requests
from oracle import Capture, LogLine, captures, read_frames, read_log

# One run, seen at the client's side and beside the broker: the second one's packets tell when requests arrived.
BESIDE = {"routed_client": "routed_broker"}
# The log's moments are whole milliseconds.
HALF_MS = 500_000
NEAR_NS = 2_000_000


@dataclass(frozen=True)
class Judged:
    """An answered exchange, with both truths in ns."""

    row: Exchange
    line: LogLine
    least_ns: float
    most_ns: float

    @property
    def near_ns(self) -> float:
        return max(NEAR_NS, self.most_ns / 10)

    def is_right(self, value: float) -> bool:
        return self.least_ns - self.near_ns <= value <= self.most_ns + self.near_ns


@dataclass
class Table:
    """What a row of the table is made of."""

    judged: list[Judged] = field(default_factory=list)

    def given(self) -> list[Judged]:
        return [each for each in self.judged if each.row["broker_ns"] is not None]

    def bounded(self) -> list[Judged]:
        return [each for each in self.judged if each.row["broker_max_ns"] is not None]

    def right(self) -> list[Judged]:
        return [each for each in self.given() if each.is_right(each.row["broker_ns"])]

    def right_today(self) -> list[Judged]:
        return [
            each for each in self.judged if each.row["service_ns"] is not None and each.is_right(each.row["service_ns"])
        ]

    def too_high(self) -> list[Judged]:
        return [each for each in self.given() if each.row["broker_ns"] > each.most_ns + each.near_ns]

    def held(self) -> list[Judged]:
        """Those whose interval holds a truth."""
        return [
            each
            for each in self.bounded()
            if each.row["broker_min_ns"] <= each.most_ns + each.near_ns
            and each.row["broker_max_ns"] >= each.least_ns - each.near_ns
        ]

    def evidence(self) -> Counter[str]:
        return Counter(str(each.row["broker_evidence"]) for each in self.judged)


def percent(part: Sequence[object], whole: Sequence[object]) -> float:
    return 100 * len(part) / len(whole) if whole else 100.0


Arrivals = dict[tuple[str, int, int], list[int]]


def arrivals(capture: Capture) -> Arrivals:
    """(connection, correlation id, API key) -> when the requests were complete beside the broker, in their order."""
    found: Arrivals = {}
    beside = capture.folder / f"{BESIDE.get(capture.name, capture.name)}.exchanges.tsv.zst"
    if beside.exists():
        for frame in sorted(read_frames(beside), key=lambda frame: frame.request_first_ns):
            found.setdefault((frame.connection, frame.correlation_id, frame.api_key), []).append(frame.request_last_ns)
    return found


def seen_beside(exchanges: Iterable[Exchange]) -> Arrivals:
    """The same of a capture that was taken beside the broker, as it was read."""
    found: Arrivals = {}
    for row in requests(exchanges):
        found.setdefault((connection_name(row), row["correlation_id"], row["api_key"]), []).append(
            row["request_end_ns"]
        )
    return found


def judge(capture: Capture, exchanges: Iterable[Exchange], beside: Arrivals | None = None) -> Table:
    """The answered exchanges of a capture that the broker's log has."""
    beside = arrivals(capture) if beside is None else beside
    before: dict[str, int] = {}
    table = Table()
    pairs = match(exchanges, read_log(capture.log)).pairs
    for line, row in sorted(pairs, key=lambda pair: pair[0].logged_ns):
        times = beside.get((line.connection, line.correlation_id, line.api_key))
        came_ns = times.pop(0) if times else row["request_end_ns"]
        begin_ns = max(came_ns or 0, before.get(line.connection, 0))
        # The line may be written later than the reply left, and a packet is captured later than it left.
        before[line.connection] = min(line.logged_ns + HALF_MS, row["response_end_ns"] or line.logged_ns + HALF_MS)
        if row["status"] != "answered":
            continue
        kept_ns = 1_000_000 * (line.throttle_time_ms or 0) if holds_replies(capture) else 0
        least = max(line.total_ms * 1e6 - kept_ns, 0)
        most = max(line.logged_ns + HALF_MS - begin_ns - kept_ns, least)
        table.judged.append(Judged(row, line, least, most))
    return table


def holds_replies(capture: Capture) -> bool:
    """Does this broker hold a throttled reply back (before 2.0)?"""
    return capture.name == "broker_11"


def ways(near: Iterable[Exchange], beside: Iterable[Exchange]) -> dict[str, list[bool]]:
    """Of a run that was seen beside the client and beside the broker: is the way there, and the way back, that either tells what
    the difference of both clocks (one host's) says, within 2 ms or a tenth? By `there at client`, and so on."""
    seen = {row["exchange_key"]: row for row in map(_keyed, beside)}
    found: dict[str, list[bool]] = {name: [] for name in ("there at client", "back at client", "there at broker")}
    for row in map(_keyed, near):
        other = seen.get(row["exchange_key"])
        if other is None or row["status"] != "answered" or other["status"] != "answered":
            continue
        there = other["request_end_ns"] - row["request_end_ns"]
        back = row["response_time_ns"] - other["response_time_ns"]
        for name, told, truth in (
            ("there at client", row["there_ns"], there),
            ("back at client", row["back_ns"], back),
            ("there at broker", other["there_ns"], there),
        ):
            if told is not None:
                found[name].append(abs(told - truth) <= max(NEAR_NS, truth / 10))
    return found


def _keyed(row: Exchange) -> Exchange:
    return row | {"exchange_key": (row["client_port"], row["correlation_id"], row["api_key"])}


HEAD = f"{'capture':15} {'n':>6} {'today':>6} {'given':>6} {'right':>6} {'high':>5} {'hold':>6}  evidence"


def text(name: str, table: Table) -> str:
    return (
        f"{name:15} {len(table.judged):6} {percent(table.right_today(), table.judged):6.1f} "
        f"{percent(table.given(), table.judged):6.1f} {percent(table.right(), table.given()):6.1f} "
        f"{len(table.too_high()):5} {percent(table.held(), table.bounded()):6.1f}  "
        + ", ".join(f"{word} {count}" for word, count in table.evidence().most_common())
    )


def of_ways(folder: Path) -> None:
    """Each run of `lab/ways.py` in a folder, from each place."""
    from program import run_kanalyze

    for capture in sorted(captures(folder), key=lambda each: each.name):
        beside = folder / f"{capture.name.rpartition('_')[0]}_broker.pcap"
        came = seen_beside(run_kanalyze([beside]).exchanges)
        print(text(capture.name, judge(capture, run_kanalyze(capture.files).exchanges, came)), flush=True)


def main(names: Sequence[str]) -> None:
    from program import found_captures, run_kanalyze

    print(HEAD)
    if names[:1] == ["--ways"]:
        of_ways(Path(names[1]))
        return
    chosen = {capture.name: capture for capture in found_captures()}
    for far, near in BESIDE.items():
        if far in names or not names:
            for name, told in ways(*(run_kanalyze(chosen[each].files).exchanges for each in (far, near))).items():
                print(f"{name}: {len(told)} told, {100 * sum(told) / len(told):.1f} % right")
    for capture in chosen.values():
        if capture.log.exists() and (not names or capture.name in names):
            secrets = tuple(capture.folder.glob(f"{capture.name}.keylog"))
            print(
                text(capture.name, judge(capture, run_kanalyze(capture.files, key_logs=secrets).exchanges)), flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
