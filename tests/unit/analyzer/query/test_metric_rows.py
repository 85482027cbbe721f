"""Rows of a metric are those of a list of dictionaries, in less memory."""

from __future__ import annotations

import tracemalloc

from analyzer.query.metric_rows import MetricRows

NAMES = tuple(f"column_{n}" for n in range(43))


def test_it_reads_as_a_list_does() -> None:
    values = [(n, n * n) for n in range(10)]
    rows = MetricRows(("one", "two"), values)
    as_list = [{"one": one, "two": two} for one, two in values]
    assert (list(rows), len(rows), bool(MetricRows(("one",), []))) == (as_list, 10, False)
    assert (rows[3], rows[-1]) == (as_list[3], as_list[-1])
    assert (list(rows[2:5]), list(rows[:None]), list(rows[100:])) == (as_list[2:5], as_list, [])
    assert as_list[4] in rows


def test_a_column_of_a_row_takes_eight_bytes_beside_its_value() -> None:
    values = [tuple(range(43)) for _ in range(1_000)]
    tracemalloc.start()
    rows = MetricRows(NAMES, values)
    held, _ = tracemalloc.get_traced_memory()
    assert sum(row["column_7"] for row in rows) == 7_000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10_000
    assert most < 20_000
