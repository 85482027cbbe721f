"""Where memory does not suffice for one question, one section of the report is missing and named, and nothing else."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_capture import Conversation, pcap
from rich.console import Console

from analyzer.base import memory
from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.metric_rows import MetricRows
from analyzer.report.facts import Facts
from analyzer.report.json_report import write_metrics
from analyzer.report.terminal import print_report
from analyzer.run import raw_views
from analyzer.run.local import open_dataset


def fail(monkeypatch: pytest.MonkeyPatch, samples: Path, failing_metric: str) -> None:
    """From now on a metric takes more memory than there is: the engine itself says so."""
    metric = Dataset.metric_rows

    def failing(self: Dataset, name: str) -> MetricRows:
        if name == failing_metric:
            with open_dataset([str(samples / "throttle.pcap.zst")], Options(memory_bytes=2_000_000)) as small:
                return metric(small, name)
        return metric(self, name)

    monkeypatch.setattr(Dataset, "metric_rows", failing)


@pytest.fixture
def dataset(samples: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    fail(monkeypatch, samples, "throttle")
    with open_dataset([str(samples / "throttle.pcap.zst")], Options()) as found:
        yield found


@pytest.mark.slow
def test_the_report_goes_on(dataset: Dataset) -> None:
    console = Console(file=io.StringIO(), width=120)
    print_report(Facts(dataset), console)
    text = console.file.getvalue()
    assert "\nLATENCY" in text.upper() and "\nERRORS" in text.upper()
    (line,) = [line for line in text.splitlines() if line.startswith("Not shown: ")]
    assert line.startswith("Not shown: throttle: Out of Memory Error") and "--memory" in line
    assert "throttle" in dataset.left_out


@pytest.mark.slow
def test_so_does_one_without_kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: Facts) -> None:
        with open_dataset([str(path)], Options(memory_bytes=2_000_000)) as small:
            small.query("SELECT list(range) FROM range(1000000)")

    path = tmp_path / "web.pcap"
    path.write_bytes(pcap(Conversation().shake().put(0, 24, b"GET / HTTP/1.1\r\n\r\n").packets))
    with open_dataset([str(path)], Options()) as dataset:
        monkeypatch.setattr(Facts, "findings", failing)
        console = Console(file=io.StringIO(), width=120)
        print_report(Facts(dataset), console)
        text = console.file.getvalue()
        assert "No Kafka in this capture" in text and "Not shown: attention: Out of Memory Error" in text
        assert "attention" in dataset.left_out


@pytest.mark.slow
def test_so_does_its_form_for_programs(dataset: Dataset) -> None:
    out = io.StringIO()
    write_metrics(dataset, "json", out)
    told = json.loads(out.getvalue())
    assert told["latency"] and "throttle" not in told
    assert list(told["not_shown"]) == ["throttle"]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["report", "clients", "report --format json", "html"])
def test_so_it_does_where_memory_does_not_tell_what_was_read(
    words: str, samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fail(monkeypatch, samples, "readability")
    capture, page = str(samples / "throttle.pcap.zst"), tmp_path / "page.html"
    assert main([*words.split(), capture, *(["-o", str(page)] if words == "html" else [])]) == 2
    told = capsys.readouterr()
    shown = page.read_text() if words == "html" else told.out
    line = "Whether all could be read is not known: Out of Memory Error"
    assert line in " ".join(shown.split()) and "shop-slow-p" in shown and "Traceback" not in told.err


@pytest.mark.slow
def test_connections_are_the_same_where_they_are_held_in_a_file(
    samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    capture = str(samples / "throttle.pcap.zst")
    kept = "SELECT database_name FROM duckdb_tables() WHERE table_name IN ('all_connections', 'parts', 'all_totals')"
    for most, place in ((100_000, "memory"), (1, "held")):
        monkeypatch.setattr(raw_views, "MOST_HELD_CONNECTIONS", most)
        with open_dataset([capture], Options()) as dataset:
            rows = dataset.query("SELECT * FROM connections ORDER BY connection"), dataset.query("SELECT * FROM totals")
            assert dataset.query(kept) == [{"database_name": place}] * 3
        assert main(["report", capture]) == 0
        found.append((rows, capsys.readouterr().out))
    assert found[0] == found[1] != []


def test_the_first_rows_of_a_metric_come_with_the_number_of_all(samples: Path) -> None:
    with open_dataset([str(samples / "throttle.pcap.zst")], Options()) as dataset:
        all_rows = dataset.metric("readiness")
        text = metrics.text("readiness")
        for most in (0, 1, len(all_rows), None):
            assert dataset.first_rows(text, most) == (all_rows[:most], len(all_rows))


def test_a_metric_in_portions_has_the_same_rows(samples: Path) -> None:
    with open_dataset([str(samples / "throttle.pcap.zst")], Options()) as dataset:
        columns, portions = dataset.metric_in_portions("readiness", 2)
        found = list(portions)
        assert len(found) > 2 and {len(each) for each in found[:-1]} == {2}
        assert [row for each in found for row in each] == dataset.metric("readiness") and columns == list(found[0][0])


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ([1 << 30], 1 << 28),
        ([8 << 30, 2 << 30], 1 << 29),
        ([1 << 40], 4_000_000_000),
        ([500_000_000], 256_000_000),
        ([], 256_000_000),
    ],
)
def test_questions_get_a_quarter_of_the_machine(
    limits: list[int], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_limits", lambda: iter(limits))
    assert memory.question_memory_bytes() == expected


@pytest.mark.parametrize(
    ("captured", "expected"),
    [(0, 256_000_000), (100_000_000, 400_000_000), (600_000_000, 2_000_000_000), (10**13, 2_000_000_000)],
)
def test_questions_about_small_captures_get_little(
    captured: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no file of 100 MB takes gigabytes."""
    monkeypatch.setattr(memory, "_limits", lambda: iter([8_000_000_000]))
    assert memory.question_memory_bytes(captured) == expected


def test_questions_about_many_connections_need_less_for_each_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tables are in a file."""
    monkeypatch.setattr(memory, "_limits", lambda: iter([16_000_000_000]))
    assert memory.question_memory_bytes(22_200_000, True) == 411_100_000
    assert memory.question_memory_bytes(650_000_000, True) == 725_000_000
    assert memory.question_memory_bytes(50_000_000_000, True) == 4_000_000_000
