"""SQL of people: documented tables only, moments as TIMESTAMP, names without quotes, errors in lines of the statement itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import made_rows
import pytest
from made_rows import START_NS, capture, exchange

from analyzer.base.tables import TABLES, is_moment, sql_columns
from analyzer.query import metrics
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.documented import documented_arrow, documented_rows, with_keys

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WILD = (-(2**63) + 1, -1, 0, 1, START_NS + 999, 2**63 - 1)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    rows = [exchange(number, request_time_ns=moment) for number, moment in enumerate(WILD)]
    files = {"captures": [capture()], "exchanges": rows, "entries": [{"exchange": 1, "offset": 77}]}
    place = tmp_path_factory.mktemp("made")
    with Dataset(made_rows.write(place, files), files_in=(place,)) as found:
        yield found


def test_a_moment_is_what_its_sentence_says() -> None:
    for table, columns in TABLES.items():
        for column in columns:
            said = "since the epoch" in column.sentence or "certificate is valid" in column.sentence
            assert is_moment(column.name) == (said and column.name.endswith("_ns")), f"{table}.{column.name}"


def test_moments_of_metrics_lie_on_the_clock_and_durations_do_not(samples: Path) -> None:
    """In a real capture a moment is after 2020, and no duration lasts for years."""
    from analyzer.base.options import Options
    from analyzer.run.local import open_dataset

    inputs = [str(samples / f"{name}.pcap.zst") for name in ("throttle", "groups_classic", "transactions")]
    seen = set()
    with open_dataset(inputs, Options()) as found:
        for name in metrics.names():
            for row in found.metric(name):
                for column, value in row.items():
                    if column.endswith("_ns") and value is not None:
                        assert is_moment(column) == (value > 50 * 365 * 86_400 * 10**9), f"{name}.{column}: {value}"
                        seen.add((name, column))
    assert len(seen) > 80


@pytest.mark.slow
def test_every_column_can_be_named_without_quotes(dataset: Dataset) -> None:
    for table, columns in TABLES.items():
        more = sql_columns(table)
        aliased = {sql.strip('"') for sql in more.values()}
        names = [column.name for column in columns if column.name not in aliased] + [*more]
        assert len(names) == len(set(names))
        for name in names:
            documented_arrow(
                dataset, f"select {name} from {table} where {name} is null group by {name} order by {name}"
            )


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_its_columns_and_then_those_of_sql(dataset: Dataset, table: str) -> None:
    found = documented_rows(dataset, f"select * from {table}")
    assert found.names == [column.name for column in TABLES[table]] + [*sql_columns(table)]
    kinds = dict(zip(found.names, found.types, strict=True))
    assert all(kinds[name] == "TIMESTAMP" for name, sql in sql_columns(table).items() if "make_timestamp" in sql)


def test_a_timestamp_is_the_moment_cut_to_microseconds(dataset: Dataset) -> None:
    rows = documented_arrow(dataset, "select request_time_ns, request_time from exchanges order by 1").to_pylist()
    assert [row["request_time_ns"] for row in rows] == list(WILD)
    for row in rows:
        whole = abs(row["request_time_ns"]) // 1000
        away = timedelta(microseconds=whole if row["request_time_ns"] > 0 else -whole)
        assert row["request_time"].replace(tzinfo=UTC) == EPOCH + away


def test_a_second_name_is_the_same_column(dataset: Dataset) -> None:
    assert documented_arrow(dataset, 'select record_offset, entries."offset" from entries').to_pylist() == [
        {"record_offset": 77, "offset": 77}
    ]


@pytest.mark.parametrize("statement", ["show tables", "describe", "DESCRIBE ;", "show all tables"])
def test_lists_have_the_documented_tables_and_no_other(dataset: Dataset, statement: str) -> None:
    # Metrics and findings make views of their own, which are nobody's business.
    dataset.metric("latency")
    assert {row["name"] for row in documented_arrow(dataset, statement).to_pylist()} == set(TABLES)
    assert len(documented_rows(dataset, statement).names) in (1, 3)


@pytest.mark.parametrize("name", ["all_exchanges", "raw_exchanges", "kinds", "settings", "latency_slices"])
def test_what_is_not_documented_is_not_there(dataset: Dataset, name: str) -> None:
    dataset.metric("latency")
    with pytest.raises(DatasetError, match="does not exist") as caught:
        documented_arrow(dataset, f"select * from {name}")
    assert "memory" not in str(caught.value)


@pytest.mark.parametrize(
    "statement",
    [
        "select * from memory.exchanges",
        'from "memory" . main.all_exchanges',
        "describe memory.exchanges",
        "select table_name from information_schema.tables",
        "select * from duckdb_views()",
        "show databases",
    ],
)
def test_other_databases_are_not_there(dataset: Dataset, statement: str) -> None:
    dataset.metric("latency")
    with pytest.raises(DatasetError, match="only documented tables can be read; `show tables`"):
        documented_arrow(dataset, statement)


def test_a_text_may_name_another_database(dataset: Dataset) -> None:
    assert documented_arrow(dataset, "select 'it''s memory.exchanges' as a").to_pylist() == [
        {"a": "it's memory.exchanges"}
    ]


# A statement, and what stands above the mark in the error.
MISTAKES = [
    ("selec 1", 1, "selec"),
    ("select foo from exchanges", 1, "foo"),
    ("select *\n\tfrom exchanges\n\twhere foo = 1", 3, "foo"),
    ("select\t'\t',\t\tfoo\tfrom exchanges", 1, "foo"),
    ("\n" * 8 + "select foo from exchanges", 9, "foo"),
    ("\n" * 9 + "select foo from exchanges", 10, "foo"),
    ("select 1,\n  cast(status as integer)\nfrom exchanges", 2, "cast(status as integer)"),
    ("-- 'none\nselect status from exchangs", 2, "exchangs"),
]


@pytest.mark.parametrize(("statement", "line", "mark"), MISTAKES)
def test_an_error_points_at_the_statement_itself(dataset: Dataset, statement: str, line: int, mark: str) -> None:
    def as_rows() -> None:
        for _ in documented_rows(dataset, statement).batches():
            pass

    for ask in (as_rows, lambda: documented_arrow(dataset, statement)):
        with pytest.raises(DatasetError) as caught:
            ask()
        told = str(caught.value).split("\n")
        assert "result" not in str(caught.value)
        at = next(number for number, each in enumerate(told) if each.startswith("LINE "))
        assert told[at] == f"LINE {line}: " + statement.split("\n")[line - 1].replace("\t", " ")
        pointed = re.search(r"\^+", told[at + 1])
        assert pointed and told[at][pointed.start() :].startswith(mark)


def test_a_name_that_is_nearly_right_is_suggested(dataset: Dataset) -> None:
    with pytest.raises(DatasetError, match='Did you mean "transaction_events"'):
        documented_arrow(dataset, "from transaction_event")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select 1; select 2", "2 statements"),
        ("", "no statements"),
        ("-- nothing", "no statements"),
        ("insert into exchanges values (1)", "INSERT"),
        ("create table x as select 1", "CREATE"),
    ],
)
def test_anything_but_one_select_is_refused(dataset: Dataset, statement: str, told: str) -> None:
    for ask in (documented_arrow, documented_rows):
        with pytest.raises(DatasetError, match=told):
            ask(dataset, statement)


def test_filters_hold(tmp_path: Path) -> None:
    from analyzer.base.filters import Filters

    rows = [exchange(number, client_id=f"client-{number}") for number in range(3)]
    made = made_rows.write(tmp_path, {"captures": [capture()], "exchanges": rows})
    with Dataset(made, filters=Filters(("client-1",)), files_in=(tmp_path,)) as found:
        assert documented_arrow(found, "select client_id from exchanges").to_pylist() == [{"client_id": "client-1"}]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("exchange = '00000000000000ff'", "exchange = 255"),
        ("x.Exchange<>'00000000000000FF'", "x.Exchange<>255"),
        ("connection not in ('000000000000000a', '0000000000000010')", "connection not in (10, 16)"),
        ("client_id = '00000000000000ff'", "client_id = '00000000000000ff'"),
        ("exchange = '00ff'", "exchange = '00ff'"),
        ("'exchange = ''00000000000000ff'", "'exchange = ''00000000000000ff'"),
        ("1 -- exchange = '00000000000000ff'", "1 -- exchange = '00000000000000ff'"),
        ("\"exchange = '00000000000000ff'\"", "\"exchange = '00000000000000ff'\""),
        ("$$exchange = '00000000000000ff'$$", "$$exchange = '00000000000000ff'$$"),
        ("$a$ $$ exchange = '00000000000000ff'$a$", "$a$ $$ exchange = '00000000000000ff'$a$"),
        ("$$a$$ exchange = '00000000000000ff'", "$$a$$ exchange = 255"),
        ("'x AS exchange' exchange = '00000000000000ff'", "'x AS exchange' exchange = 255"),
    ],
)
def test_digits_of_a_key_are_its_number_where_a_key_is_compared(statement: str, expected: str) -> None:
    assert with_keys(statement) == expected


@pytest.mark.parametrize("name", ["exchange", '"Exchange"'])
def test_a_text_that_a_statement_calls_like_a_key_stays_a_text(dataset: Dataset, name: str) -> None:
    statement = f"WITH t AS (SELECT '00000000000000ff' AS {name}) SELECT * FROM t WHERE exchange = '00000000000000ff'"
    assert documented_rows(dataset, statement).batches().read_all().num_rows == 1
