"""Ten questions of people who operate Kafka, write clients or own data: answered by the first screen, or by one command.

The first screen is what a terminal of 80 columns and 24 lines shows of `kanalyze CAPTURE`. A command is one of the table of
questions in README.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paths import ROOT, SAMPLES

from analyzer.cli.main import main

INCIDENTS = ROOT / "tests" / "data" / "incidents"
LINES, COLUMNS = 24, 80
# Who asks, what, the capture, the command behind `kanalyze` (none: the first screen), what the answer says.
QUESTIONS: list[tuple[str, str, Path, list[str], list[str]]] = [
    (
        "SRE",
        "Which broker went away, when, and is it back?",
        INCIDENTS / "broker_killed.pcap.zst",
        [],
        ["broker 10.20.0.12:9092 became unavailable", "nobody asked for it again", "18:26:24 to 18:26:40, ongoing"],
    ),
    (
        "SRE",
        "Requests are slow for seconds at a time: the client, the network or the broker?",
        INCIDENTS / "broker_stalled.pcap.zst",
        [],
        ["broker 10.20.0.12:9092 stopped answering for 3.0 s", "130 requests of 2 clients waited"],
    ),
    (
        "SRE",
        "Is the network losing packets, and where?",
        INCIDENTS / "lossy_client.pcap.zst",
        [],
        ["packets are lost between 10.20.1.1 and 10.20.0.11: 97 of 4,254 (2.3 %)"],
    ),
    (
        "SRE",
        "Who is throttled, and what does it cost them?",
        SAMPLES / "throttle.pcap.zst",
        [],
        ["shop-churn at 127.0.0.1 is throttled 98 % of its time", "16.7 s spent waiting"],
    ),
    (
        "client developer",
        "Why do requests time out after a quiet time?",
        INCIDENTS / "nat_240.pcap.zst",
        [],
        [
            'connections of "sensor" to 10.20.0.11:9092 are dropped while idle',
            "4 min 10 s",
            "Azure Load Balancer (240 s)",
        ],
    ),
    (
        "client developer",
        "Why was my consumer removed from its group?",
        INCIDENTS / "slow_consumer.pcap.zst",
        [],
        ["exceeded its max.poll.interval.ms"],
    ),
    (
        "client developer",
        "Will my clients work with Kafka 4, and if not, what do I change?",
        SAMPLES / "old_java.pcap.zst",
        ["readiness"],
        ["11 clients: 4 break, 7 fine", "Upgrade the client, or raise its configured protocol version", "Produce v2"],
    ),
    (
        "data engineer",
        "How far is each consumer of this topic behind, and how long do records take to reach it?",
        SAMPLES / "groups_classic.pcap.zst",
        ["topics", "--topic", "orders-grp"],
        ["lag", "Delivery time, by batch", "shop-coop0 live 3.1 ms 8.1 ms 10 ms"],
    ),
    (
        "data engineer",
        "Are transactions hanging or producers fenced, so that records are missing downstream?",
        INCIDENTS / "hanging_transaction.pcap.zst",
        [],
        ["hanging transaction on", "read_committed consumers received nothing"],
    ),
    (
        "data engineer",
        "The consumer falls behind: since when, by how much, on which topic?",
        INCIDENTS / "lag_grows.pcap.zst",
        [],
        ["falls behind on", "lag grew from"],
    ),
]


@pytest.mark.parametrize(("who", "question", "capture", "command", "answer"), QUESTIONS)
def test_an_answer_is_on_the_first_screen_or_one_command_away(
    who: str,
    question: str,
    capture: Path,
    command: list[str],
    answer: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.chdir(capture.parent)
    assert who and question.endswith("?")
    assert main([capture.name] if not command else [*command, capture.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    seen = " ".join(" ".join(lines if command else lines[:LINES]).split())
    for words in answer:
        assert words in seen
    if command:
        assert re.search(rf"`{command[0]}`", (ROOT / "README.md").read_text())
