"""Which side of a connection is the client, where neither its content nor a handshake tells (`framed_parts.sql`)."""

from __future__ import annotations

import duckdb
import pytest

from analyzer.query.resolve import views

SQL = views((), seen_again=False)["framed_parts"]
BROKER, OTHER = ("10.0.1.1", 9093), ("10.0.0.1", 40_000)


@pytest.mark.parametrize(
    ("a", "b", "others", "expected"),
    [
        # The broker's packet came first; its port is no client's.
        (BROKER, OTHER, [], 1),
        (OTHER, BROKER, [], 0),
        # Ports tell nothing; another connection to the endpoint, or a handshake with it, does.
        (("10.0.1.1", 40_001), OTHER, [], 0),
        (("10.0.1.1", 40_001), OTHER, [(("10.0.0.2", 40_000), ("10.0.1.1", 40_001), 0)], 1),
        (("10.0.1.1", 40_001), OTHER, [(("10.0.0.2", 40_000), ("10.0.1.1", 40_001), 1)], 1),
    ],
)
def test_the_broker_is_whom_others_ask(
    a: tuple[str, int], b: tuple[str, int], others: list[tuple[tuple[str, int], tuple[str, int], int]], expected: int
) -> None:
    parts = [(1, *a, *b, 0), *((2 + n, *first, *second, syn) for n, (first, second, syn) in enumerate(others))]
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE raw_parts (part BIGINT, a_address VARCHAR, a_port INT, b_address VARCHAR, b_port INT, syn INT)"
        )
        database.executemany("INSERT INTO raw_parts VALUES (?, ?, ?, ?, ?, ?)", parts)
        database.execute(
            "CREATE TABLE raw_framed_parts AS SELECT part, CAST(NULL AS SMALLINT) AS client_side FROM raw_parts"
        )
        found = database.execute(f"SELECT client_side FROM ({SQL}) WHERE part = 1").fetchall()
    assert found == [(expected,)]
