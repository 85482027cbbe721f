"""The contract of tables: written once, documented from one place."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from paths import ROOT

from analyzer.base import tables
from dissectors import layout

# The columns that ../shared/design.md section 3 and semantics.md name for the tables of this stage.
DESIGN = {
    "captures": "path tap packets link_types first_time_ns last_time_ns",
    "connections": (
        "connection tap cluster role client_address client_port broker_address broker_port first_time_ns "
        "last_time_ns seen_from rtt_ns tls security principal sasl_mechanism software_name software_version "
        "close"
    ),
    "exchanges": (
        "exchange connection client_address client_port broker_address broker_port api_key api_name "
        "api_version correlation_id client_id principal request_time_ns request_end_ns response_time_ns "
        "response_end_ns request_bytes response_bytes request_file request_packet response_file "
        "response_packet status kind request_decoded response_decoded send_ns latency_ns receive_ns total_ns "
        "service_ns throttle_time_ms error_code error_count topics partitions acks max_wait_ms min_bytes "
        "isolation_level session_id session_epoch group_id member_id transactional_id replica_id"
    ),
    "entries": (
        "exchange connection side topic topic_id partition error_code offset high_watermark "
        "last_stable_offset log_start_offset record_bytes leader_epoch forgotten preferred_read_replica"
    ),
    "errors": "exchange connection code name retriable expected level path entity topic topic_id partition side",
    "problems": "file packet connection offset kind bytes_lost detail exchange",
}


@pytest.mark.parametrize("table", DESIGN)
def test_every_column_of_the_design_is_there(table: str) -> None:
    assert set(DESIGN[table].split()) <= {column.name for column in tables.TABLES[table]}


def test_exchanges_has_the_agreed_columns_in_order() -> None:
    """Others may stand between and behind them."""
    agreed = DESIGN["exchanges"].split()
    assert [column.name for column in tables.EXCHANGES if column.name in agreed] == agreed


@pytest.mark.parametrize("table", tables.TABLES)
def test_columns_are_well_formed(table: str) -> None:
    columns = tables.TABLES[table]
    assert len({column.name for column in columns}) == len(columns)
    for column in columns:
        assert column.type in tables.SQL_TYPES
        assert column.sentence.endswith("."), column
        # min_bytes is Apache's own name of an int32 field.
        if column.name.endswith(("_ns", "_bytes")) and column.name != "min_bytes":
            assert column.type == "int64", column


def test_arrow_schema_has_the_names_and_types() -> None:
    schema = tables.arrow_schema("exchanges")
    assert schema.field("exchange").type == pa.int64()
    assert schema.field("api_key").type == pa.int16()
    assert schema.field("client_id").type == pa.string()
    assert schema.names == [column.name for column in tables.EXCHANGES]


def test_a_capture_counts_every_outcome_of_a_packet() -> None:
    outcomes = [name for name in vars(layout) if name.startswith("SEEN_") and name != "SEEN_OUTCOMES"]
    columns = {column.name for column in tables.CAPTURES}
    assert {f"{name.removeprefix('SEEN_').lower()}_packets" for name in outcomes} <= columns


def test_docs_are_current() -> None:
    assert (ROOT / "docs" / "tables.md").read_text() == tables.docs()


@pytest.mark.slow
def test_a_report_loads_the_engine_and_not_the_package_around_it() -> None:
    """`duckdb` takes longer to import than a small capture to read."""
    code = (
        "import sys; from analyzer.cli.main import main; main(['samples/sweep_43.pcap.zst']); "
        "sys.exit('duckdb' in sys.modules or '_duckdb' not in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, analyzer.base.tables, analyzer.query.dataset, analyzer.base.filters; "
        "print([name for name in ('pyarrow', 'duckdb', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
