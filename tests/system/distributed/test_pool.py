"""Processes that read a plan: the rows of one run, whatever the tasks, and nobody waits for a worker that is gone."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import also_long
from parts_agree import agree
from runs_apart import compared

from analyzer.base import workers
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed import fragments, pool
from analyzer.distributed.plan import Plan, plan
from analyzer.distributed.plan_repair import Repaired, repaired
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.inputs.readings import Reading
from analyzer.query.dataset import Dataset
from analyzer.run import local


def rows(dataset: Dataset) -> dict[str, list[str]]:
    return {
        table: sorted(repr(compared(table, row)) for row in dataset.arrow(f"SELECT * FROM {table}").to_pylist())
        for table in TABLES
    }


def unpacked(capture: Path, folder: Path) -> Path:
    """The capture without its compression: only such files are cut."""
    path = folder / capture.name.partition(".")[0]
    path = path.with_suffix(".pcap")
    path.write_bytes(b"".join(expand([str(capture)]).sources[0].blocks()))
    return path


def compare(path: Path, target_bytes: int, jobs: int, **given: object) -> None:
    options = Options(jobs=jobs, **given)
    made = plan(in_time_order(expand([str(path)]).sources), target_bytes)
    assert len(made.tasks) > 1
    with local.open_dataset([str(path)], Options(**given)) as whole, local.open_plan(made, options) as cut:
        assert cut.warnings == whole.warnings
        expected, found = rows(whole), rows(cut)
    assert sum(map(len, expected.values())) > 1_000
    for table in TABLES:
        assert agree(table, found[table], expected[table]), table


@pytest.mark.parametrize(
    ("name", "target_bytes", "jobs"),
    also_long(
        [("throttle", 400_000, 1), ("transactions", 40_000, 2)],
        [("throttle", 100_000, 1), ("transactions", 9_000, 2), ("groups_classic", 100_000, 2), ("old_java", 20_000, 3)],
    ),
)
def test_a_capture_cut_in_tasks_gives_the_same_rows(
    name: str, target_bytes: int, jobs: int, samples: Path, tmp_path: Path
) -> None:
    compare(unpacked(samples / f"{name}.pcap.zst", tmp_path), target_bytes, jobs)


def with_captures_inside(capture: Path, out: Path) -> Path:
    """The same capture, with packets between whose payloads are captures themselves."""
    raw = b"".join(expand([str(capture)]).sources[0].blocks())
    inner = b"".join(struct.pack("<IIII", 1_700_000_000, n, 48, 48) + bytes(48) for n in range(900))
    tcp = struct.pack("!HHIIBBHHH", 5_555, 6_666, 1, 1, 5 << 4, 0x18, 512, 0, 0) + inner
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, bytes((10, 9, 9, 1)), bytes((10, 9, 9, 2))
    )
    packet = bytes(12) + b"\x08\x00" + ip + tcp
    parts, at, count = [raw[:24]], 24, 0
    while at < len(raw):
        end = at + 16 + struct.unpack_from("<I", raw, at + 8)[0]
        parts.append(raw[at:end])
        count += 1
        if count % 25 == 0:
            parts.append(raw[at : at + 8] + struct.pack("<II", len(packet), len(packet)) + packet)
        at = end
    out.write_bytes(b"".join(parts))
    return out


def test_wrong_guesses_are_put_right(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture inside a capture misleads the guess of where records begin; tasks are read again, and the rows are right."""
    again: list[int] = []

    def spy(made: Plan, readings: list[Reading]) -> Repaired:
        found = repaired(made, readings)
        again.append(len(found.again))
        return found

    monkeypatch.setattr(pool, "repaired", spy)
    path = with_captures_inside(samples / "groups_classic.pcap.zst", tmp_path / "a.pcap")
    compare(path, path.stat().st_size // 9, jobs=2)
    assert again[0] > 0 and again[-1] == 0


@pytest.mark.parametrize("name", ["tls13_embedded", "tls12"])
def test_secrets_reach_the_process_that_needs_them(name: str, shared: Path, tmp_path: Path) -> None:
    """Those of a key log, and those that the capture brings in one of its parts."""
    folder = shared / "captures" / "lab"
    given = {} if "embedded" in name else {"tls_key_logs": tuple(folder.glob(f"{name}*keylog*"))}
    (capture,) = folder.glob(f"{name}.pcap*")
    path = tmp_path / capture.name.removesuffix(".zst")
    path.write_bytes(b"".join(expand([str(capture)]).sources[0].blocks()))
    compare(path, path.stat().st_size // 4, jobs=2, **given)


@pytest.mark.parametrize("tasks", also_long([7], [3]))
def test_copies_that_come_late_find_their_originals(tasks: int, shared: Path, tmp_path: Path) -> None:
    """A capture of two interfaces, written one buffer after the other: its times go back by a fifth of a second."""
    capture = shared / "captures" / "lab" / "shape_two.pcapng.zst"
    path = tmp_path / capture.stem
    path.write_bytes(b"".join(expand([str(capture)]).sources[0].blocks()))
    compare(path, path.stat().st_size // tasks + 1, jobs=2)


def die(**_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full(**_: object) -> None:
    raise OSError(28, "No space left on device")


def read(count: int, progress: Callable[[int], None]) -> int:
    for _ in range(count):
        progress(1 << 20)
    return os.getpid()


@pytest.mark.parametrize("apart", [False, True])
def test_works_are_done_in_other_processes(apart: bool) -> None:
    told: list[int] = []
    counts = (8, 4, 1, 0, 16)
    answers = dict(workers.run_all([partial(read, count) for count in counts], 2, apart=apart, progress=told.append))
    assert sorted(answers) == [0, 1, 2, 3, 4]
    assert len({os.getpid(), *answers.values()}) == 6
    assert sum(told) == 28 << 20


def weigh(data: bytes, **_: object) -> int:
    return len(data)


def test_a_process_that_dies_before_it_has_its_work_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handing over then ends in a broken pipe, which means elsewhere that nobody wants to read on."""
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    with pytest.raises(ChildProcessError, match="ended without a result"):
        list(workers.run_all([partial(weigh, bytes(1 << 20))], 1, apart=True))


def test_what_lies_in_the_working_directory_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit('not ours')")
    monkeypatch.setattr(sys, "path", [os.path.abspath(path) for path in sys.path])  # noqa: PTH100
    monkeypatch.chdir(tmp_path)
    assert workers.result(workers.begin(os.getpid, apart=True)) != os.getpid()


def fragments_of(flows: Sequence[int], payload: bytes, path: Path) -> Path:
    """A file of fragments of these flows, numbered the other way round."""
    count = len(flows)
    given = {"flow": flows, "number": range(count, 0, -1), "columns": [b""] * count, "payload": [payload] * count}
    columns = {field.name: given.get(field.name, [0] * count) for field in fragments.schema()}
    table = pa.table(columns, schema=fragments.schema())
    pq.write_table(table, path, use_dictionary=False, compression="lz4", write_statistics=False, row_group_size=3_500)
    return path


@pytest.mark.parametrize("most", [1, 50])
def test_more_large_fragments_than_fit_in_memory_are_sorted(most: int, tmp_path: Path) -> None:
    """Of many flows, and nearly all of a single one."""
    flows = [14 * (n * 31 % most) + (n % 9 == 0) for n in range(45_000)]
    path = fragments_of(flows, bytes(8_900), tmp_path / "a.parquet")
    found = [
        key
        for number in range(2)
        for batch in pool._sorted([path], number, 2, tmp_path)
        for key in zip(batch["flow"].to_pylist(), batch["number"].to_pylist(), strict=True)
    ]
    expected = sorted(zip(flows, range(45_000, 0, -1), strict=True), key=lambda key: (key[0] % 2, *key))
    assert found == expected


def test_what_duckdb_says_in_a_process_is_told_as_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "duckdb", raising=False)
    pool._Pool(tmp_path, Options(), None)
    assert "duckdb" in sys.modules


def test_what_a_work_raises_is_raised_here() -> None:
    with pytest.raises(OSError, match="No space left"):
        list(workers.run_all([partial(read, 1), full, partial(read, 1)], 2))


def test_a_process_that_dies_is_told_of() -> None:
    with pytest.raises(ChildProcessError, match="signal 9; is there enough memory"):
        list(workers.run_all([die, partial(read, 1)], 2))
