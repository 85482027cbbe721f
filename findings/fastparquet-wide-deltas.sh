#!/usr/bin/env bash
# fastparquet 2026.9.0 returns other numbers for int64 columns in DELTA_BINARY_PACKED, without an error.
#
# Expected: a reader either knows an encoding of Parquet or refuses it, as fastparquet refuses the other delta encodings and
#   BYTE_STREAM_SPLIT (NotImplementedError).
# Seen: this one it decodes as int32. In data pages of version 2 two int64 values are put together of four halves: the numbers
#   0 to 4 are read as 4294967296, 12884901890, ...; moments in nanoseconds become other centuries. In pages of version 1
#   columns with even steps are right, and one whose steps differ by more than 32 bits (moments 1 s and 10 s apart) is wrong,
#   so a simple test file passes. int32 columns are right. DuckDB, Polars and pyarrow read all of them.
# Why it matters: delta is what one chooses for offsets and times, and what parquet-java writes for int64 when it writes
#   version 2 with such pages; a wrong offset looks like any other offset.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install fastparquet==2026.9.0 pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.1 polars==2.1.0

env/bin/python - > seen <<'PY'
import duckdb, fastparquet, polars
import pyarrow as pa, pyarrow.parquet as pq

START = 1_795_827_358_123_456_789
COLUMNS = {
    "0 to 4": pa.array(range(5), pa.int64()),
    "0 to 4 as int32": pa.array(range(5), pa.int32()),
    "moments 1 ms apart": pa.array(range(START, START + 300 * 10**6, 10**6), pa.int64()),
    "moments 1 and 10 s apart": pa.array([START + (n // 2 * 11 + n % 2) * 10**9 for n in range(300)], pa.int64()),
}
for name, values in COLUMNS.items():
    for version in "1.0", "2.0":
        pq.write_table(
            pa.table({"c": values}),
            "file.parquet",
            use_dictionary=False,
            column_encoding={"c": "DELTA_BINARY_PACKED"},
            data_page_version=version,
        )
        sent = values.to_pylist()
        others = [
            pq.read_table("file.parquet")["c"].to_pylist(),
            polars.read_parquet("file.parquet")["c"].to_list(),
            [row[0] for row in duckdb.sql("FROM 'file.parquet'").fetchall()],
        ]
        assert others == [sent] * 3
        read = fastparquet.ParquetFile("file.parquet").to_pandas()["c"].tolist()
        print(f"{name}, pages {version}:", "right" if read == sent else f"wrong, begins {read[:2]}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what fastparquet 2026.9.0 did when this was written"; exit 1; }
0 to 4, pages 1.0: right
0 to 4, pages 2.0: wrong, begins [4294967296, 12884901890]
0 to 4 as int32, pages 1.0: right
0 to 4 as int32, pages 2.0: right
moments 1 ms apart, pages 1.0: right
moments 1 ms apart, pages 2.0: wrong, begins [-5841244214995683051, -5832654280401683051]
moments 1 and 10 s apart, pages 1.0: wrong, begins [1795827358123456789, 1795827359123456789]
moments 1 and 10 s apart, pages 2.0: wrong, begins [-1550571886291683051, 8800580220404311829]
EXPECTED
echo "as described: int64 deltas are decoded as int32"
