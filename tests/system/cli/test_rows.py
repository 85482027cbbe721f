"""What the verbs print, in each format."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT, SAMPLES

from analyzer.base.tables import TABLES
from analyzer.cli.main import main


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.cli.common.say_when_uncompiled", lambda: None)


def run(capfdbinary: Any, *words: str) -> bytes:
    assert main(words) == 0
    out, err = capfdbinary.readouterr()
    assert err == b"", err
    return out


@pytest.fixture
def listed(stub: Any, some_exchanges: str) -> None:
    stub.views = {"exchanges": some_exchanges}


@pytest.mark.usefixtures("listed")
def test_jsonl_has_every_column_hex_keys_and_whole_numbers(capfdbinary: Any) -> None:
    rows = [json.loads(line) for line in run(capfdbinary, "exchanges", "x", "--format", "jsonl").splitlines()]
    assert [list(row) for row in rows] == [[column.name for column in TABLES["exchanges"]]] * 2
    assert rows[0]["exchange"] == "0000000000000005" and rows[1]["exchange"] == "7fffffffffffffff"
    assert rows[0]["request_time_ns"] == 1777633152123456789
    assert rows[1]["client_id"] == "=cmd|\x1b[31m\x9b"
    assert rows[1]["total_ns"] is None


@pytest.mark.usefixtures("listed")
def test_json_is_one_array_of_the_same(capfdbinary: Any) -> None:
    lines = [json.loads(line) for line in run(capfdbinary, "exchanges", "x", "--format", "jsonl").splitlines()]
    assert json.loads(run(capfdbinary, "exchanges", "x", "--format", "json")) == lines
    assert json.loads(run(capfdbinary, "sql", "x", "select 1 where false", "--format", "json")) == []


@pytest.mark.usefixtures("listed")
def test_csv_is_harmless_to_spreadsheets_and_terminals(capfdbinary: Any) -> None:
    text = run(capfdbinary, "exchanges", "x", "--format", "csv").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == [column.name for column in TABLES["exchanges"]]
    assert rows[1]["client_id"] == "'=cmd|\\x1b[31m\\x9b"
    assert rows[1]["exchange"] == "7fffffffffffffff" and rows[1]["total_ns"] == ""


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
@pytest.mark.usefixtures("listed")
def test_no_format_lets_a_control_character_through(capfdbinary: Any, form: str) -> None:
    for words in (["exchanges", "x"], ["sql", "x", "select client_id, '\u202e' as \"\x9b\" from exchanges"]):
        text = run(capfdbinary, *words, "--format", form).decode()
        assert not set(text) & set("\x1b\x9b\u202e\x07")


@pytest.mark.usefixtures("listed")
def test_cells_of_numbers_are_not_defused(capfdbinary: Any) -> None:
    out = run(capfdbinary, "sql", "x", "select -5 as a, '-5' as b, '@x' as c, sum(-5::bigint) as d", "--format", "csv")
    assert list(csv.reader(io.StringIO(out.decode())))[1] == ["-5", "'-5", "'@x", "-5"]


@pytest.mark.usefixtures("listed")
def test_a_pipe_gets_whole_cells_without_colour(capfdbinary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    text = run(capfdbinary, "exchanges", "x").decode()
    lines = text.splitlines()
    assert "10:59:12.123" in lines[1] and "0000000000000005" in lines[1] and "2.1 ms" in lines[1]
    assert "=cmd|\\x1b[31m\\x9b" in lines[2] and "closed" in lines[2]
    assert "\x1b" not in text and "…" not in text


@pytest.mark.usefixtures("listed")
def test_limit_says_that_there_is_more(capfdbinary: Any) -> None:
    for words in (["exchanges", "x"], ["sql", "x", "select * from exchanges"]):
        assert main([*words, "--limit", "1"]) == 0
        out, err = capfdbinary.readouterr()
        assert len(out.splitlines()) == 2 and b"--limit 0" in err
        assert main([*words, "--limit", "2"]) == 0
        out, err = capfdbinary.readouterr()
        assert len(out.splitlines()) == 3 and err == b""
        assert len(run(capfdbinary, *words, "--limit", "1", "--format", "jsonl").splitlines()) == 1


@pytest.mark.usefixtures("listed")
def test_filters_reach_the_dataset(stub: Any) -> None:
    words = "--client a* --client b --broker 1 --api Fetch --topic t --from 2026-05-01 --until 2026-05-02T00:00:00.5"
    assert main(["export", "x", "--table", "exchanges", *words.split()]) == 0
    filters = stub.options.filters
    assert (filters.clients, filters.brokers, filters.apis, filters.topics) == (("a*", "b"), ("1",), ("Fetch",), ("t",))
    assert (filters.from_ns, filters.to_ns) == (1777593600 * 10**9, 1777680000 * 10**9 + 500_000_000)
    assert stub.options.tables == ("exchanges",)


@pytest.mark.usefixtures("listed")
def test_sql_takes_a_comment_and_a_semicolon_at_the_end(capfdbinary: Any) -> None:
    for end in (";", " -- the end", ";\n"):
        assert run(capfdbinary, "sql", "x", "select 1 as one" + end, "--format", "jsonl") == b'{"one":1}\n'


@pytest.mark.usefixtures("listed")
def test_moments_of_nanoseconds_are_whole_in_a_table(capfdbinary: Any) -> None:
    text = run(capfdbinary, "sql", "x", "select make_timestamp_ns(1779361148044590001) as at").decode()
    assert text.split() == ["at", "2026-05-21", "10:59:08.044590001"]


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    "where", ["exchange = '7fffffffffffffff'", "exchange in ('7FFFFFFFFFFFFFFF', '0000000000000001')"]
)
def test_sql_compares_a_key_with_its_digits(where: str, capfdbinary: Any) -> None:
    out = run(capfdbinary, "sql", "x", f"select exchange, status from exchanges where {where}", "--format", "jsonl")
    assert json.loads(out) == {"exchange": "7fffffffffffffff", "status": "closed"}


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
@pytest.mark.usefixtures("listed")
def test_export_writes_every_table_and_a_manifest(tmp_path: Path, form: str) -> None:
    target = tmp_path / "new" / "dir"
    assert main(["export", "x", "--to", str(target), "--format", form]) == 0
    name = "{}/part-00000.parquet" if form == "parquet" else f"{{}}.{form}"
    files = [path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()]
    assert {*files} == {name.format(table) for table in TABLES} | {"manifest.json"}
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["format"] == form and manifest["tables"] == dict.fromkeys(TABLES, 0) | {"exchanges": 2}
    assert {table: [file["file"] for file in files] for table, files in manifest["files"].items()} == {
        table: [name.format(table)] for table in TABLES
    }


@pytest.mark.usefixtures("listed")
def test_a_parquet_export_has_the_contract_types_and_reads_again(tmp_path: Path) -> None:
    import pyarrow.parquet

    from analyzer.base.tables import arrow_schema
    from analyzer.query.exported import is_dataset, open_dataset

    assert main(["export", "x", "--to", str(tmp_path / "d")]) == 0
    for table in TABLES:
        fields = list(pyarrow.parquet.read_schema(tmp_path / "d" / table / "part-00000.parquet"))
        assert fields[: len(TABLES[table])] == list(arrow_schema(table))
        assert all(str(field.type) == "timestamp[us, tz=UTC]" for field in fields[len(TABLES[table]) :])
    assert is_dataset(tmp_path / "d")
    with open_dataset(tmp_path / "d") as dataset:
        assert dataset.query("select max(exchange) as most from exchanges") == [{"most": 2**63 - 1}]


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_an_export_that_fails_leaves_nothing(tmp_path: Path, stub: Any, some_exchanges: str, form: str) -> None:
    stub.views = {"exchanges": some_exchanges, "problems": "select error('boom') as kind"}
    assert main(["export", "x", "--to", str(tmp_path / "d"), "--format", form]) != 0
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "d").mkdir()
    assert main(["export", "x", "--to", str(tmp_path / "d"), "--format", form]) != 0
    assert [path.name for path in tmp_path.rglob("*")] == ["d"]


def test_a_directory_with_something_in_it_is_left_alone(
    tmp_path: Path, stub: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "precious").write_text("x")
    assert main(["export", "x", "--to", str(tmp_path)]) == 2
    assert stub.inputs == () and [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert "not empty" in capsys.readouterr().err


def test_rows_stream() -> None:
    """The peak of memory does not grow with the rows: four times as many need no more than a little above."""
    code = """
import resource, sys
from analyzer.query.dataset import Dataset
from analyzer.query.export import Rows, write
class Sink:
    def write(self, data): pass
with Dataset({}) as dataset:
    sql = f"select range as exchange, 'client-' || range as client_id, range * 3 as total_ns from range({sys.argv[2]})"
    assert write(Rows(dataset, sql), sys.argv[1], Sink()) == int(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

    def peak(form: str, rows: int) -> int:
        done = subprocess.run([sys.executable, "-c", code, form, str(rows)], capture_output=True, check=True, cwd=ROOT)
        return int(done.stdout)

    for form in ("csv", "jsonl"):
        assert peak(form, 2_000_000) < 1.25 * peak(form, 500_000)


def _on_terminal(*words: str) -> list[str]:
    """What a terminal of 80 columns shows of `exchanges`."""
    code = """
import sys
from analyzer.cli.main import main
sys.exit(main(["exchanges", *sys.argv[1:]]))
"""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "dumb"}
    command = [sys.executable, "-c", code, *words]
    assert subprocess.run(command, stdout=slave, stderr=subprocess.DEVNULL, cwd=ROOT, env=env).returncode == 0
    os.close(slave)
    lines = os.read(master, 65536).decode().splitlines()
    os.close(master)
    assert max(map(len, lines)) <= 80
    return lines


def test_a_terminal_of_80_columns_gets_the_id_and_the_time_whole() -> None:
    lines = _on_terminal(str(ROOT / "samples" / "throttle.pcap.zst"), "--limit", "9")
    rows = [line for line in lines if re.match(r"  [0-9a-f]{16}  \d\d:\d\d:\d\d\.\d{3}  ", line)]
    # What does not fit goes on below, under its column.
    assert len(rows) == 9 and all(line.startswith(" " * 34) for line in lines[1:-1] if line not in rows)
    assert lines[-1].startswith("  Columns left out for width: broker")


def test_a_terminal_of_80_columns_breaks_no_name_between_letters() -> None:
    lines = _on_terminal("tests/data/incidents/broker_stalled.pcap.zst", "--api", "FindCoordinator", "--limit", "1")
    assert [line.split()[-1] for line in lines[1:-1]] == ["answered,", "COORDINATOR_", "NOT_AVAILABLE"]


def test_packets_of_several_files_have_their_file(capfdbinary: Any) -> None:
    """Every file counts its packets from 1 on."""
    both = [str(SAMPLES / f"{name}.pcap.zst") for name in ("ipv6", "groups_848")]
    lines = run(capfdbinary, "exchanges", *both, "--limit", "0").decode().splitlines()
    named = [name for line in lines[1:] for name in ("ipv6.pcap.zst", "groups_848.pcap.zst") if line.endswith(name)]
    assert len(named) == len(lines) - 1 and set(named) == {"ipv6.pcap.zst", "groups_848.pcap.zst"}
    assert "pcap.zst" not in run(capfdbinary, "exchanges", both[0]).decode()
