"""The first screen of a report, 80 cells wide: on every capture of an incident the answer stands within the first twelve lines."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import pytest
from effort import LONG

from analyzer.cli.main import main
from lab.score import DATA, truths

LINES = 12
# Every second has something that comes before the answer: TLS without keys, packets that were cut, lost or never captured, filters.
ASKED = (
    "broker_killed",
    "certificate_expired",
    "advertised_localhost",
    "far_tls",
    "broker_stalled",
    "tls_stall_snap80",
    "old_java_restart",
    "scale_lost_java41",
    "fetch_spin_java28",
    "nat_tls_left_behind",
    "client_not_reading",
    "stall_unfinished",
)


def _screen(*words: str) -> list[str]:
    sink = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS="80"), redirect_stdout(sink), redirect_stderr(io.StringIO()):
        assert main(list(words)) == 0
    return sink.getvalue().splitlines()[:LINES]


@pytest.mark.parametrize(
    "name", [name for name, truth in truths().items() if truth["kind"] == "incident"] if LONG else ASKED
)
def test_the_answer_is_on_the_first_screen(name: str) -> None:
    lines = _screen(str(DATA / f"{name}.pcap.zst"))
    if "Needs attention" not in lines:  # nothing could be read, and the first line says why
        assert lines[0].startswith(("No Kafka could be read", "Nothing could be read")), lines
        return
    answer = lines[lines.index("Needs attention") + 1 :]
    # A finding ends with its time; the sentence that nothing was found ends its section.
    ends = "" if answer[0].startswith("  ") and "found" in answer[0] else r" {12}\d\d:\d\d:\d\d"
    assert any(re.match(ends, line) if ends else not line for line in answer[1:]), "\n".join(lines)


def test_the_head_is_two_lines_where_all_was_read() -> None:
    lines = _screen(str(DATA / "broker_killed.pcap.zst"))
    assert lines[2:4] == ["", "Needs attention"]
    assert lines[1] == "3 brokers, 3 clients, 1,653 requests (69/s); 100 % of Kafka bytes read"


def test_what_filters_ask_for_comes_first_and_the_head_counts_what_they_leave() -> None:
    lines = _screen(str(DATA / "broker_killed.pcap.zst"), "--broker", "10.20.0.12", "--api", "Metadata")
    assert lines[0] == "Filtered by: broker 10.20.0.12, API Metadata."
    assert lines[2].startswith("1 broker, 1 client, 2 requests (")
