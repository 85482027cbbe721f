"""Where memory does not suffice for one question, one section of the report is missing and named, and nothing else."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from analyzer.base import memory
from analyzer.base.options import Options
from analyzer.query.dataset import Dataset
from analyzer.report.facts import Facts
from analyzer.report.json_report import write_metrics
from analyzer.report.terminal import print_report
from analyzer.run.local import open_dataset


@pytest.fixture
def dataset(samples: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    """One in which the metric `throttle` takes more memory than there is: the engine itself says so."""
    metric = Dataset.metric

    def failing(self: Dataset, name: str) -> list[dict[str, object]]:
        if name == "throttle":
            with open_dataset([str(samples / "throttle.pcap.zst")], Options(memory_bytes=2_000_000)) as small:
                return metric(small, name)
        return metric(self, name)

    monkeypatch.setattr(Dataset, "metric", failing)
    with open_dataset([str(samples / "throttle.pcap.zst")], Options()) as found:
        yield found


def test_the_report_goes_on(dataset: Dataset) -> None:
    console = Console(file=io.StringIO(), width=120)
    print_report(Facts(dataset), console)
    text = console.file.getvalue()
    assert "\nLATENCY" in text.upper() and "\nERRORS" in text.upper()
    (line,) = [line for line in text.splitlines() if line.startswith("Not shown: ")]
    assert line.startswith("Not shown: throttle: Out of Memory Error") and "--memory" in line
    assert dataset.failed


def test_so_does_its_form_for_programs(dataset: Dataset) -> None:
    out = io.StringIO()
    write_metrics(dataset, "json", out)
    told = json.loads(out.getvalue())
    assert told["latency"] and "throttle" not in told
    assert list(told["not_shown"]) == ["throttle"]


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
