"""A month's report: what questions about a dataset of thirty days take, from its hours, and whether its rows give the same answers.

month.py [CAPTURE] [DAYS]     The dataset is the capture once a day, its requests spread over the hours of the day. `--rows` asks
                              the rows too: minutes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from math import isclose
from pathlib import Path
from time import perf_counter
from typing import Any

from measure import measure

from analyzer.base.filters import literal
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES, is_moment
from analyzer.query.dataset import Dataset
from analyzer.query.dataset_places import LocalPlace
from analyzer.query.days import DAY_NS, HOUR_NS, day_directory
from analyzer.query.export_tables import COPY_OPTIONS, Written
from analyzer.query.growing import AddedRun, Manifest, read_manifest
from analyzer.query.hours import SUM_NAMES, SUMS, beside, write_sums
from analyzer.query.table_views import parquet
from analyzer.run import additions, local

KANALYZE = Path(sys.executable).with_name("kanalyze")
# The command lines of docs/guides/bucket.md, and the error codes.
QUESTIONS = (
    [],
    ["--every", "1d"],
    ["--every", "1d", "--by", "api", "--by", "client"],
    ["--by", "error", "--by", "api"],
    ["--by", "topic", "--by", "api"],
)
SETTINGS = (
    Settings(),
    Settings(("api",), DAY_NS),
    Settings(("api", "client")),
    Settings(("error", "api")),
    Settings(("topic", "api")),
)
OF_DAYS = ("exchanges", "entries")


def main(capture: str, days: int, ask_rows: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix="kanalyze-month-"))
    try:
        lake = folder / "lake"
        print(grown(capture, days, lake))
        for words in QUESTIONS:
            took = measure([str(KANALYZE), "latency", str(lake), *words])
            print(
                f"latency {' '.join(words)}: {took.seconds:.2f} s, {took.cpu_seconds:.2f} CPU s, "
                f"{took.peak_bytes / 1e6:.0f} MB"
            )
        if ask_rows:
            print(compared(lake))
    finally:
        shutil.rmtree(folder)


def grown(capture: str, days: int, lake: Path) -> str:
    """Makes the dataset; answers what is in it."""
    additions.add([capture], str(lake), Options())
    place = LocalPlace(lake)
    (run,) = read_manifest(place).runs
    views = {}
    for name in OF_DAYS:
        (lake / name).rename(lake.with_name(name))
        views[f"found_{name}"] = parquet(
            [lake.with_name(name) / Path(file.file).relative_to(name) for file in run.files[name]]
        )
    for name in SUM_NAMES:
        shutil.rmtree(lake / name)
    files: dict[str, list[Written]] = run.files | {name: [] for name in (*OF_DAYS, *SUM_NAMES)}
    with Dataset(views) as dataset:
        (first,) = dataset.query("SELECT min(coalesce(request_time_ns, response_time_ns)) AS ns FROM found_exchanges")
        for day in range(days):
            begin = (first["ns"] // DAY_NS + day) * DAY_NS
            later = f"{begin - first['ns']} + exchange % 24 * {HOUR_NS}"
            moved = ", ".join(
                f"{column.name} + {later} AS {column.name}" for column in TABLES["exchanges"] if is_moment(column.name)
            )
            for table in OF_DAYS:
                name = f"{table}/{day_directory(begin // DAY_NS)}/part-{run.run}.parquet"
                (lake / name).parent.mkdir(parents=True)
                times = f", {moved}" if table == "exchanges" else ""
                of_day = f"SELECT * REPLACE (exchange + {day} AS exchange{times}) FROM found_{table}"
                (written,) = dataset.query(f"COPY ({of_day}) TO {literal(str(lake / name))} ({COPY_OPTIONS})")
                files[table].append(Written(name, written["count"], begin, begin + DAY_NS - 1))
            name = files["exchanges"][-1].file
            counts = (
                days_sums(dataset, lake, files["exchanges"][0].file, name, day)
                if day
                else write_sums([name], lake, [beside(name, "entries")])
            )
            for sums, count in counts.items():
                files[sums].append(Written(beside(name, sums), count, begin, begin + DAY_NS - 1))
    made = AddedRun(run.run, run.inputs, files, frozenset(), run.next_file, run.next_split)
    place.write("manifest.json", Manifest((made,), 1).text().encode())
    rows_of = {name: sum(file.rows for file in files[name]) for name in (*OF_DAYS, *SUM_NAMES)}
    sizes = {name: sum(path.stat().st_size for path in (lake / name).rglob("*.parquet")) for name in rows_of}
    return f"{days} days of {capture}: " + ", ".join(
        f"{rows_of[name]:,} rows of {name} ({sizes[name] / 1e6:,.0f} MB)" for name in rows_of
    )


def days_sums(dataset: Dataset, lake: Path, first: str, name: str, day: int) -> dict[str, int]:
    """Writes the sums of a day, which are those of the first one but for their times; answers their rows."""
    counts = {}
    for sums in SUMS:
        to = lake / beside(name, sums.name)
        to.parent.mkdir(parents=True)
        columns = (sums.column, "first_time_ns", "last_time_ns")
        moved = ", ".join(f"{each} + {day * DAY_NS} AS {each}" for each in columns)
        rows = f"SELECT * REPLACE ({moved}) FROM {literal(str(lake / beside(first, sums.name)))}"
        (written,) = dataset.query(f"COPY ({rows}) TO {literal(str(to))} (format parquet, compression zstd)")
        counts[sums.name] = int(written["Count"])
    return counts


def compared(lake: Path) -> str:
    """Asks hours and rows; both give the same buckets, so all numbers must be the same."""
    began = perf_counter()
    of_hours = [answer(lake, settings) for settings in SETTINGS]
    hours_s = perf_counter() - began
    Dataset.hours_answer = lambda _: None  # type: ignore[method-assign]
    began = perf_counter()
    of_rows = [answer(lake, settings) for settings in SETTINGS]
    if not all(map(same, of_hours, of_rows)):
        raise SystemExit("hours and rows give different answers")
    return f"equal: {sum(map(len, of_rows)):,} rows of answers; hours took {hours_s:.1f} s, rows {perf_counter() - began:.1f} s"


def answer(lake: Path, settings: Settings) -> list[dict[str, Any]]:
    """The rows, sorted by what they are about."""
    with local.open_dataset([str(lake)], Options()) as dataset:
        dataset.choose(settings)
        found = dataset.query("SELECT * FROM latency_slices")
    return sorted(found, key=lambda row: [repr(value) for value in row.values() if not isinstance(value, float)])


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether all values are; floats are added in some order. Of the spread of latencies, a difference of such sums, what is below
    a nanosecond does not count.
    """
    return len(one) == len(other) and all(
        isclose(value, there[name], rel_tol=1e-9, abs_tol=1e-9) if isinstance(value, float) else value == there[name]
        for row, there in zip(one, other, strict=True)
        for name, value in row.items()
    )


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--rows"]
    data = Path(__file__).parent / "data"
    main(
        words[0] if words else str(data / "chatty.pcap"), int(words[1]) if len(words) > 1 else 30, "--rows" in sys.argv
    )
