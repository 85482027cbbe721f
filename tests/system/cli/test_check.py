"""`kanalyze check`: what breaks a limit ends with 1, what was not measured with 3, what cannot be meant with 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from kept_datasets import KeptDatasets
from paths import SAMPLES

from analyzer.compare.checks import CheckError, amount, parse

SAMPLE = SAMPLES / "throttle.pcap.zst"
Run = Callable[..., CompletedProcess[bytes]]


@pytest.mark.parametrize(
    ("value", "column", "expected"),
    [
        ("50 ms", "p99_ns", 50_000_000),
        ("1.5s", "p99_ns", 1_500_000_000),
        (0, "p99_ns", 0),
        ("0", "share", 0),
        ("2 s", "throttle_time_ms", 2_000),
        ("10 MB", "record_bytes", 10_000_000),
        ("5 %", "muted_share", 0.05),
        ("5%", "share", 0.05),
        ("12", "count", 12),
    ],
)
def test_limits_have_units(value: object, column: str, expected: float) -> None:
    assert float(amount(value, column, "x")) == expected


@pytest.mark.parametrize(
    ("value", "column"),
    [
        ("50", "p99_ns"),
        (50, "p99_ns"),
        ("5", "share"),
        (0.05, "share"),
        ("10", "record_bytes"),
        ("5 %", "count"),
        ("5 %", "p99_ns"),
    ],
)
def test_a_limit_without_its_unit_is_refused(value: object, column: str) -> None:
    with pytest.raises(CheckError, match=f"x: {column} takes a number"):
        amount(value, column, "x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "metric = 3",
        "[a]\nmetric = 'nothing'\ncolumn = 'p99_ns'\nmax = 1",
        "[a]\nmetric = 'latency'\nmax = 1",
        "[a]\nmetric = 'latency'\ncolumn = 'p99_ns'",
        "[a]\nmetric = 'latency'\ncolumn = 'p99_ns'\nmax = '3 parsecs'",
        "[a]\nmetric = 'latency'\ncolumn = 'p99_ns'\nmax = true",
        "[a]\nmetric = 'latency'\ncolumn = 'p99_ns'\nsum = 'count'\nmax = 1",
        "[a]\nmetric = 'latency'\ncolumn = 'p99_ns'\nmaximum = 1",
        "[a\n",
    ],
)
def test_what_cannot_be_meant_is_told(text: str) -> None:
    with pytest.raises(CheckError):
        parse(text)


def rules(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.fixture
def kanalyze(kept: KeptDatasets, tmp_path: Path) -> Run:
    """In this process, which reads each capture once: what is proved here is what is said."""
    return lambda *arguments: kept.run(arguments, tmp_path)


# shop-slow-p of this capture is throttled nearly all of its time: the broker's log says so.
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[a]\nmetric='throttle'\nwhere={client_id='shop-slow-p'}\ncolumn='share'\nmax='5 %'", 1),
        ("[a]\nmetric='throttle'\nwhere={client_id='shop-slow-*'}\ncolumn='share'\nmax='100 %'", 0),
        ("[a]\nmetric='throttle'\nwhere={client_id='nobody'}\ncolumn='share'\nmax='5 %'", 3),
        ("[a]\nmetric='throttle'\nwhere={client_id='nobody'}\ncolumn='share'\nmin='5 %'", 3),
        ("[a]\nmetric='errors'\nwhere={api_name='Prodcue'}\nsum='unexpected'\nmax=0", 3),
        ("[a]\nmetric='errors'\nwhere={topic='no-such'}\nsum='unexpected'\nmax=0", 3),
        # Clients and codes that are there, or could be: no row means that there was no such error.
        ("[a]\nmetric='errors'\nwhere={client_id='shop-slow-p', name='FENCED_INSTANCE_ID'}\nsum='count'\nmax=0", 0),
        ("[a]\nmetric='errors'\nwhere={code=82}\nsum='count'\nmax=0", 0),
        ("[a]\nmetric='errors'\nwhere={name='FENCED_INSTANCES'}\nsum='count'\nmax=0", 2),
        ("[a]\nmetric='findings'\nwhere={finding='lossy'}\nsum='count'\nmax=0", 2),
        ("[a]\nmetric='readiness'\nwhere={release='banana'}\nsum='requests'\nmax=0", 2),
        ("[a]\nmetric='transactions'\nwhere={begun=1}\nsum='aborted'\nmax=0", 3),
        ("[a]\nmetric='rebalances'\ncolumn='no_such'\nmax=1", 2),
        ("[a]\nmetric='throttle'\nsum='throttled'\nmin=20", 0),
        ("[a]\nmetric='latency'\nwhere={kind='produce_acks_0'}\ncolumn='p99_ns'\nmax='1 h'", 3),
        ("[a]\nmetric='latency'\ncolumn='p99_ns'\nmax='1 h'\nwhere={kind='no_kind'}", 2),
        ("[a]\nmetric='findings'\nwhere={finding='throttled'}\nsum='count'\nmax=0", 1),
        ("[a]\nmetric='throttle'\ncolumn='no_such'\nmax=1", 2),
    ],
)
def test_limits_of_a_file(text: str, code: int, tmp_path: Path, kanalyze: Run) -> None:
    done = kanalyze("check", str(SAMPLE), "--rules", rules(tmp_path, text))
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stdout + done.stderr


def test_flags_and_json(kanalyze: Run) -> None:
    limits = ("--max-errors", "1000", "--max-unanswered", "1000", "--max-throttled", "100%", "--broker-version", "4.4")
    assert kanalyze("check", str(SAMPLE), *limits).returncode == 0
    assert kanalyze("check", str(SAMPLE), "--max-throttled", "5%").returncode == 1
    done = kanalyze("check", str(SAMPLE), "--no-high", "--max-p99", "1h", "--format", "json")
    found = {each["check"]: each["passed"] for each in json.loads(done.stdout)}
    assert (done.returncode, found) == (1, {"--no-high": False, "--max-p99": True})


@pytest.mark.parametrize("limit", [("--max-p99", "50"), ("--max-throttled", "5"), ("--broker-version", "banana")])
def test_what_is_no_limit_is_one_line_and_2(kanalyze: Run, limit: tuple[str, str]) -> None:
    done = kanalyze("check", str(SAMPLE), *limit)
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (2, b"") and limit[0] in line and repr(limit[1]) in line


def test_nothing_to_check_is_a_mistake(kanalyze: Run) -> None:
    assert kanalyze("check", str(SAMPLE)).returncode == 2
