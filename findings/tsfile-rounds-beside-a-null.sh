#!/usr/bin/env bash
# One missing value in a TsFile makes other integers of its column: to_dataframe() says Int64, and the digits are those of a double.
#
# Expected: a column of INT64 comes back exact: pandas' Int64 type has integers and missing values, which is what it is for. If a
#   double is made of it, the type of the column shows that. NaN that was written is NaN.
# Seen (tsfile 2.5.0 for Python, Apache TsFile, the file format of IoTDB):
#   Without a null to_dataframe() is exact. With one null in the column 9007199254740993 is ...992 and 1795827358123456789 is
#     ...768, in a column of type Int64, which shows them without a point or exponent. The values pass a double on the way.
#   query_table() of the same library returns the same file's values exactly, and NaN as NaN; the frame has None, as for a missing
#     value, so count() is less by each NaN.
# Why it matters: ids and moments in nanoseconds are larger than 2^53. Whether they are right is decided by a row that has none, so
#   a join by id finds fewer partners once a device was silent for a moment. Who checks the type for floats sees nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install tsfile==2.5.0 pandas==2.3.3
cat > finding.py <<'PY'
import tsfile
from tsfile import ColumnCategory, ColumnSchema, TableSchema, Tablet, TSDataType, TsFileReader, TsFileTableWriter

columns = {"device": (TSDataType.STRING, ColumnCategory.TAG), "id": (TSDataType.INT64, ColumnCategory.FIELD), "x": (TSDataType.DOUBLE, ColumnCategory.FIELD)}
moments = [9_007_199_254_740_993, 1_795_827_358_123_456_789]
for name, ids in ("whole", moments), ("with-null", [*moments, None]):
    path = name + ".tsfile"
    with TsFileTableWriter(path, TableSchema("t", [ColumnSchema(column, *kind) for column, kind in columns.items()])) as writer:
        tablet = Tablet(list(columns), [kind for kind, _ in columns.values()], len(ids))
        for row, value in enumerate(ids):
            tablet.add_timestamp(row, row)
            tablet.add_value_by_name("device", row, "d")
            tablet.add_value_by_name("x", row, float("nan") if row == 0 else 1.5)
            if value is not None:
                tablet.add_value_by_name("id", row, value)
        writer.write_table(tablet)
    with TsFileReader(path) as reader, reader.query_table("t", ["id", "x"], 0, 10) as rows:
        exact = []
        while rows.next():
            exact.append(tuple(None if rows.is_null_by_index(place) else rows.get_value_by_index(place) for place in (2, 3)))
    frame = tsfile.to_dataframe(path)
    print(f"{name}: query_table() {exact}")
    print(f"{name}: to_dataframe() {frame['id'].to_list()} {frame['id'].dtype}, x {frame['x'].to_list()} {frame['x'].dtype}, count {frame['x'].count()}")
PY
env/bin/python -W ignore finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
whole: query_table() [(9007199254740993, nan), (1795827358123456789, 1.5)]
whole: to_dataframe() [9007199254740993, 1795827358123456789] Int64, x [<NA>, 1.5] Float64, count 1
with-null: query_table() [(9007199254740993, nan), (1795827358123456789, 1.5), (None, 1.5)]
with-null: to_dataframe() [9007199254740992, 1795827358123456768, <NA>] Int64, x [<NA>, 1.5, 1.5] Float64, count 2
EXPECTED
echo "as described: a null beside them changes integers"
