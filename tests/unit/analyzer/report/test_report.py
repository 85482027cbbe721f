"""The report as a whole: fits every width, shows no control character, says what matters first."""

from __future__ import annotations

import dataclasses
import io
import shlex
import unicodedata
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import stories
from effort import one_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_datasets import remembering
from made_rows import START_NS, connection, dataset, error, exchange
from rich.cells import cell_len
from rich.console import Console

from analyzer.base.filters import Filters
from analyzer.query.dataset import Dataset
from analyzer.query.incidents import Finding
from analyzer.query.readability import NOTHING, Readability, Reason
from analyzer.query.run_findings import find
from analyzer.report import text_tables
from analyzer.report.facts import facts_of_report
from analyzer.report.json_report import METRICS, write_metrics
from analyzer.report.terminal import ALONE, SECTIONS, print_report, print_section

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (80, 120, 200)


def printed(found: Dataset, width: int, terminal: bool = False) -> str:
    sink = io.StringIO()
    console = Console(file=sink, width=width, force_terminal=terminal, color_system="truecolor" if terminal else None)
    with facts_of_report(found) as facts:
        print_report(facts, console)
    return sink.getvalue()


def section(found: Dataset, name: str, width: int = 120, limit: int | None = None) -> str:
    sink = io.StringIO()
    print_section(found, name, Console(file=sink, width=width), limit)
    return sink.getvalue()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    with dataset(tmp_path_factory.mktemp("busy"), stories.busy_cluster()) as found:
        yield remembering(found)


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Dataset]:
    """A dataset of some tables, one connection being there if none is named."""

    def make(filters: Filters | None = None, **tables: Any) -> Dataset:
        return dataset(tmp_path, {"connections": [connection(1)]} | tables, filters=filters)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("story", ["busy_cluster", "web_server"])
def test_the_report_is_the_one_we_looked_at(tmp_path: Path, story: str, width: int) -> None:
    with dataset(tmp_path, getattr(stories, story)()) as found:
        assert printed(found, width) == (GOLDEN / f"{story}.{width}.txt").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_console(busy: Dataset, width: int) -> None:
    for name in ALONE:
        assert max(cell_len(line) for line in section(busy, name, width).splitlines()) <= width, name
    assert max(cell_len(line) for line in printed(busy, width).splitlines()) <= width


@pytest.mark.slow
def test_widths_beyond_the_limits_are_brought_back(busy: Dataset) -> None:
    assert printed(busy, 20) == printed(busy, 80)
    assert printed(busy, 1_000) == printed(busy, 200)


@pytest.mark.slow
def test_colours_only_on_a_terminal(busy: Dataset) -> None:
    assert "\x1b" not in printed(busy, 100)
    coloured = printed(busy, 100, terminal=True)
    assert "\x1b[1mNeeds attention" in coloured
    # What the hostile client id holds is shown, not obeyed: neither as an escape sequence nor as markup of rich.
    assert "\\x1b[31mred" in coloured
    assert "[bold]x[/bold]" in coloured


NASTY = "\x00\x07\x08\t\n\r\x1b[]m\x7f\x85\x9b\u061c\u200b\u200e\u2028\u2029\u202e\u2066\u2069\ufeff\ud800"
NASTY += "\u6f22\U0001f600 e\u0301"
CAPTURED = st.one_of(st.text(max_size=400), st.text(alphabet=NASTY, max_size=400))


class Altered:
    """The facts of a dataset, every captured string in them replaced."""

    def __init__(self, found: Dataset, replace: Callable[[str], str]) -> None:
        # Lone surrogates are refused before there is a filter.
        client, topic = (replace(word).encode("utf-8", "replace").decode() for word in ("client", "topic"))
        self.filters = Filters(clients=(client,), topics=(topic,))
        names = [*METRICS, "chosen", "attempts", "seen", "unread", "top_clients", "top_topics"]
        names += ["alike_connections", "alike_connections_of_note"]
        self._rows = {name: [self._altered(row, replace) for row in stored(found, name)] for name in names}
        self._path = replace("path")
        self.whole = True
        self.has_names = False
        self.is_logged = self.is_log_alone = False
        self._findings = [
            dataclasses.replace(
                each,
                row=self._altered(each.row, replace),
                evidence=tuple(dataclasses.replace(place, path=self._path) for place in each.evidence),
            )
            for each in stored_findings(found)
        ]

    @staticmethod
    def _altered(row: dict[str, Any], replace: Callable[[str], str]) -> dict[str, Any]:
        return {name: replace(value) if isinstance(value, str) else value for name, value in row.items()}

    def ask(self, command: str) -> str:
        return f"{command} CAPTURE"

    def show(self, exchange: int) -> str:
        return f"{self.ask('kanalyze show')} {exchange}"

    def rows(self, metric: str) -> list[dict[str, Any]]:
        return self._rows[metric]

    def findings(self) -> list[Finding]:
        return self._findings

    def readability(self, asks: str) -> Readability:
        return Readability(asks, NOTHING, (Reason("no_match", {"filters": self.filters}),))

    first_findings = findings

    def coverage(self) -> dict[str, Any]:
        return self._rows["coverage"][0]

    def paths(self) -> list[str]:
        return [self._path] * 2


_STORED: dict[str, list[dict[str, Any]]] = {}


def stored(found: Dataset, name: str) -> list[dict[str, Any]]:
    """Metrics of the one story, computed once for all examples."""
    if name not in _STORED:
        _STORED[name] = found.metric(name)
    return _STORED[name]


_FOUND: list[Finding] = []


def stored_findings(found: Dataset) -> list[Finding]:
    """Findings of the one story, computed once for all examples."""
    if not _FOUND:
        _FOUND.extend(find(found))
    return _FOUND


@settings(max_examples=60 // one_in(3), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(captured=CAPTURED, width=st.integers(80, 200))
@pytest.mark.parametrize("name", [*ALONE, "no_kafka"])
def test_no_captured_string_breaks_a_section(busy: Dataset, name: str, captured: str, width: int) -> None:
    facts = Altered(busy, lambda _: captured)
    if name == "no_kafka":
        facts.coverage()["kafka_connections"] = 0
    lines = import_module(f"analyzer.report.sections.{name}").render(facts, width, 5)
    assert lines
    for line in lines:
        # One argument of a command is not broken: it must be pasted whole.
        assert cell_len(line.plain) <= width or len(shlex.split(line.plain.removesuffix("\\"))) == 1
        assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in line.plain)
        assert not set(line.plain) & set("\u061c\u200e\u200f\u202e\u2066\u2069")


def test_attention_puts_the_worst_first_and_proposes_commands(busy: Dataset) -> None:
    lines = section(busy, "attention", 200).splitlines()
    assert lines[0] == "Needs attention"
    assert [line.split()[1] for line in lines[1:] if line[:3].strip()] == ["high", "high", "medium", "medium", "medium"]
    assert "orders-app-7 at 10.0.0.1 is throttled" in lines[1]
    assert lines[2].endswith("ongoing   kanalyze throttle --client orders-app-7 CAPTURE")
    assert lines[4].endswith("ended   kanalyze topics --topic orders CAPTURE")


@pytest.mark.parametrize(
    ("api", "code", "seconds", "expected", "shown"),
    [
        ("JoinGroup", 79, 100, True, False),
        ("Fetch", 6, 9, True, False),
        ("Fetch", 6, 11, False, True),
        ("Fetch", 5, 9, False, True),
        ("Fetch", 2, 0, None, True),
        ("Heartbeat", 27, 60, True, False),
        ("Metadata", 3, 4, True, False),
        ("Metadata", 3, 61, False, True),
        ("CreateTopics", 89, 60, True, False),
        ("Produce", 46, 60, True, False),
    ],
)
def test_errors_of_normal_operation_need_no_attention(
    told: Callable[..., Dataset], api: str, code: int, seconds: int, expected: bool | None, shown: bool
) -> None:
    rows = [exchange(number, api_name=api, at_ns=START_NS + number * seconds * 10**9) for number in range(2)]
    codes = [error(number, code, name="SOME_ERROR", expected=expected) for number in range(2)]
    with told(exchanges=rows, errors=codes) as found:
        assert ("Nothing found: no errors" not in section(found, "attention")) is shown
        assert "SOME_ERROR" in section(found, "errors")


def test_pending_at_the_end_and_empty_polls_need_no_attention(told: Callable[..., Dataset]) -> None:
    fetch = {"api_key": 1, "api_name": "Fetch"}
    rows = [exchange(1, status="pending", **fetch), exchange(2, kind="fetch_empty", latency_ns=500_000_000, **fetch)]
    with told(exchanges=rows) as found:
        assert "Nothing found: no errors" in section(found, "attention")


def test_what_had_waited_for_long_at_the_end_is_never_nothing(told: Callable[..., Dataset]) -> None:
    produce = {"api_key": 0, "api_name": "Produce", "status": "pending"}
    links = [connection(1, close="none", last_time_ns=START_NS + 10 * 10**9)]
    with told(exchanges=[exchange(1, **produce), exchange(2)], connections=links) as found:
        text = " ".join(section(found, "attention").split())
    assert "Nothing found" not in text
    assert "a request (Produce) had waited 10.0 s for its reply when the capture ended" in text


def test_waits_by_design_come_last_without_percentiles(busy: Dataset) -> None:
    lines = section(busy, "latency").partition("\n\n")[0].splitlines()
    waits = [at for at, line in enumerate(lines) if "waits by design" in line]
    timed = [at for at, line in enumerate(lines) if line.count(" ms") > 1]
    assert len(waits) == 2 and min(waits) > max(timed)
    assert all(lines[at].count(" ms") == 1 for at in waits)


@pytest.mark.slow
def test_tables_are_cut_and_say_so(told: Callable[..., Dataset]) -> None:
    rows = [exchange(number, api_name=f"Api{number}") for number in range(40)]
    with told(exchanges=rows) as found:
        assert "... and 26 more (kanalyze latency CAPTURE)" in printed(found, 100)
        assert "more (" not in section(found, "latency")
        assert section(found, "latency", limit=3).partition("\n\n")[0].count("Api") == 3


@pytest.mark.slow
def test_filters_are_named_and_the_head_counts_what_they_leave(told: Callable[..., Dataset]) -> None:
    rows = [exchange(1, client_id="a"), exchange(2, client_id="b")]
    with told(exchanges=rows, filters=Filters(clients=("a",), from_ns=1)) as found:
        report = printed(found, 100)
    assert report.startswith("Filtered by: client a, time from 1970-01-01 00:00:00 UTC.\n")
    assert "1 broker, 1 client, 1 request" in report
    assert [line.split()[1] for line in report.splitlines() if line.startswith("  Metadata")] == ["1"]


def test_no_kafka_says_what_was_seen_and_what_to_try(tmp_path: Path) -> None:
    with dataset(tmp_path, stories.web_server()) as found:
        report = printed(found, 100)
    assert "What is in this capture" in report
    assert "TLS on port 443" in report
    assert "--ports" in report
    assert "Latency" not in report


def test_an_empty_capture_is_told(tmp_path: Path) -> None:
    empty = {"packets": 0, "tcp_packets": 0, "first_time_ns": None, "last_time_ns": None}
    with dataset(tmp_path, {"captures": [stories.capture(**empty)]}) as found:
        assert "The capture contains no packets" in printed(found, 80)


def test_what_is_not_read_is_told_by_name(tmp_path: Path) -> None:
    words = "1,204 packets: UDP 4790, VXLAN-GPE; 3 packets: ARP"
    no_tcp = {"packets": 1_207, "tcp_packets": 0, "not_tcp_packets": 1_204, "not_ip_packets": 3, "unread": words}
    with dataset(tmp_path, {"captures": [stories.capture(**no_tcp)]}) as found:
        report = printed(found, 100)
    assert "No TCP was found in the 1,207 packets." in report
    assert f"Not read: {words}." in report
    assert "--decode-as udp.port==PORT,vxlan" in report


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_metrics_as_json(busy: Dataset, form: str) -> None:
    import json

    sink = io.StringIO()
    write_metrics(busy, form, sink)
    assert not any(unicodedata.category(letter) == "Cc" for letter in sink.getvalue().replace("\n", ""))
    if form == "json":
        found = json.loads(sink.getvalue())
        assert list(found) == [*METRICS, "findings", "readable"]
        assert (found["readable"]["verdict"], found["readable"]["reasons"]) == ("partly", ["tls", "loss"])
        assert found["coverage"]["requests"] == 5_615
        assert found["connections_of_note"][0]["connection"] == "0000000000000003"
    else:
        found = [json.loads(line) for line in sink.getvalue().splitlines()]
        assert {row["metric"] for row in found} <= {*METRICS, "findings"}
        assert sum(row["count"] for row in found if row["metric"] == "latency") == 5_615


columns = st.lists(
    st.builds(
        text_tables.Column,
        st.text(max_size=12).map(lambda text: text.replace("\n", " ")),
        st.booleans(),
        st.integers(1, 9),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@given(columns, st.lists(st.lists(st.text(max_size=60), min_size=12, max_size=12), max_size=4), st.integers(40, 200))
def test_a_table_of_text_never_overflows(head: list[text_tables.Column], cells: list[list[str]], width: int) -> None:
    lines = text_tables.table(head, [text_tables.Row(row[: len(head)]) for row in cells], width)
    assert len(lines) > len(cells)
    assert all(cell_len(line.plain) <= width for line in lines)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Mn", "Me", "Cf"])), st.integers(2, 30))
def test_a_broken_name_has_all_its_letters(name: str, width: int) -> None:
    pieces = text_tables.broken(name, width)
    assert all(cell_len(piece) <= width for piece in pieces)
    if len(pieces) < text_tables.MOST_PIECES:
        assert "".join("".join(pieces).split()) == "".join(name.split())


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1), min_size=1),
    st.integers(1, 80),
)
def test_a_command_in_several_lines_is_one_for_a_shell(words: list[str], width: int) -> None:
    lines = text_tables.typed(shlex.join(words), width)
    # A shell takes off a backslash with the line's end behind it, which Python's does not.
    assert shlex.split("\n    ".join(lines).replace(" \\\n", " ")) == words


@given(st.text(), st.integers(1, 100))
def test_wrapping_keeps_every_word_that_fits(words: str, width: int) -> None:
    lines = text_tables.wrap(words, width)
    assert all(cell_len(line) <= width for line in lines)
    if all(cell_len(word) <= width for word in words.split(" ")):
        assert " ".join(lines).split() == words.split()


@given(st.integers(1, 400), st.integers(40, 100))
def test_a_long_name_is_whole_in_wrapped_text(length: int, width: int) -> None:
    name = "n" * length
    assert "".join(text_tables.wrap(f"topic {name}", width)).replace(" ", "") == f"topic{name}"


def test_pieces_that_flow_are_broken_between_pieces() -> None:
    lines = [line.plain for line in text_tables.flow(["one piece", "another piece"], 12, ", ")]
    assert lines == ["one piece,", "another", "piece"]
    assert [line.plain for line in text_tables.flow(["a", "b"], 4, ", ")] == ["a,", "b"]


def test_every_section_of_the_report_exists() -> None:
    for name in (*SECTIONS, *ALONE, "no_kafka"):
        assert import_module(f"analyzer.report.sections.{name}").__doc__


if __name__ == "__main__":  # writes the golden reports anew: look at the difference before it is committed
    import tempfile

    GOLDEN.mkdir(exist_ok=True)
    for chosen in ("busy_cluster", "web_server"):
        with dataset(Path(tempfile.mkdtemp()), getattr(stories, chosen)()) as made:
            for cells in (80, 120):
                (GOLDEN / f"{chosen}.{cells}.txt").write_text(printed(made, cells))
