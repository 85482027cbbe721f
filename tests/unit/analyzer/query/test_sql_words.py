"""Words of SQL files are what the protocol and `dissectors/layout.py` say, and a wrong one is never passed over."""

from __future__ import annotations

from collections.abc import Iterator

import _duckdb
import pytest

from analyzer.query.sql_words import folded
from dissectors import layout


@pytest.fixture
def engine() -> Iterator[_duckdb.DuckDBPyConnection]:
    with _duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("ms(800)", 800_000_000),
        ("ms(0.5) + s(2.5) - s(0)", 2_500_500_000),
        ("mb(10)", 10_000_000),
        ("lag_turns(0.5)", 2_147_483_648_000_000),
        ("two_to(32) - two_to(31)", 2_147_483_648),
        ("max_bigint()", 9_223_372_036_854_775_807),
        ("salt(1) IN (salt(2), salt(3)) OR salt(2) = salt(3)", False),
        # Kafka's protocol guide.
        ("[api('Produce'), api('Fetch', 'ApiVersions')]", [0, 1, 18]),
        ("[error('NONE', 'NOT_CONTROLLER',\n    'UNKNOWN_SERVER_ERROR')]", [0, 41, -1]),
        ("impact('slow_share') * 100 = impact('refusals') AND impact('setup_ns') = s(2)", True),
        ("mark('REPEAT', 'SHARED')", layout.MARK_REPEAT | layout.MARK_SHARED),
        ("[no_error(0), no_error(NULL), NOT no_error(3)]", [True] * 3),
        ("[is_client('client'), is_client(NULL), NOT is_client('follower')]", [True] * 3),
        ("[is_name('kafka-1'), NOT is_name('10.0.0.1'), NOT is_name('::1'), is_name(NULL) IS NULL]", [True] * 4),
        ("(SELECT list(cluster_id(c)) FROM (VALUES ('a1'), ('::1:9092'), (NULL)) AS c (cluster))", ["a1", None, None]),
        ("who(x)", "app"),
        # A SYN alone, or reset by the other side; then: a SYN+ACK, bytes, reset by the client, met in mid-flight.
        (
            "(SELECT list(never_answered(c)) FROM (SELECT *, 0 AS client_stream_bytes FROM (VALUES"
            " ('syn', NULL, 0, NULL), ('syn', NULL, 0, 'broker'), ('syn', 9, 0, NULL), ('syn', NULL, 7, NULL),"
            " ('syn', NULL, 0, 'client'), ('midstream', NULL, 0, NULL)"
            ") AS v (seen_from, syn_ack_ns, broker_stream_bytes, closed_by)) AS c)",
            [True, True, False, False, False, False],
        ),
        (
            "(SELECT concat(link_key(c), ' ', request_key(c, x)) FROM (SELECT '::1' AS client_address, 9 AS client_port) AS c)",
            "::1|9 ::1|9|4",
        ),
        ("(SELECT who() FROM (SELECT NULL AS client_id, '::1' AS client_address) AS y)", "::1"),
        ("sums(1)", 7),
    ],
)
def test_words_have_the_values_that_they_say(engine: _duckdb.DuckDBPyConnection, sql: str, value: object) -> None:
    engine.execute("CREATE MACRO sums(x) AS 7")
    (row,) = engine.execute(
        folded(f"SELECT {sql} FROM (SELECT 'app' AS client_id, '::1' AS client_address, 4 AS correlation_id) AS x")
    ).fetchall()
    assert row == (value,)


@pytest.mark.parametrize(
    "sql", ["api('Produse')", "error('NONE', 'OOPS')", "mark(SHARED)", "api(0)", "ms(0.0000005)", "ms(x)"]
)
def test_a_name_or_number_that_means_nothing_is_an_error(sql: str) -> None:
    with pytest.raises(ValueError):
        folded(f"SELECT {sql}")
