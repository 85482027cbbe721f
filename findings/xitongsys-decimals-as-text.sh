#!/usr/bin/env bash
# 12.05 in Parquet is 12.5 as text to xitongsys/parquet-go, -1.10 is -1.-10, and in another column of the file 654.26.
#
# Expected: a decimal of two places has two places as text, a sign in front, and the same text whether its column is stored as int32, as
#   int64 or as bytes, which is the writer's choice.
# Seen (xitongsys/parquet-go 1.6.2, Go, a file of pyarrow 26): DECIMAL_INT_ToString(), its function for columns stored as integers, prints
#   the part in front of the point and the part behind it as two numbers: 0.05 is 0.5, 12.05 is 12.5, 100.00 is 100.0, and of a
#   negative amount both have a sign. DECIMAL_BYTE_ARRAY_ToString(), for bytes, knows no sign: -1.10 in two bytes is 654.26, in more
#   bytes a number of as many digits as they hold. 12.05 and 12.34 are right there. The numbers that the reader itself returns are right.
# Why it matters: exports to text are made with these functions. Of amounts with 1 to 9 cents, one in eleven, the cents are ten times too
#   large, and most others are right; -1.-10 at least is noticed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyarrow==26.0.1
env/bin/python - <<'PY'
from decimal import Decimal
import pyarrow as pa, pyarrow.parquet as pq

amounts = [Decimal(text) for text in ("12.34", "12.05", "100.00", "-1.10", "-12.34")]
schema = pa.schema([pa.field(name, pa.decimal128(digits, 2), nullable=False) for name, digits in (("int32", 9), ("int64", 18), ("bytes", 20))])
table = pa.table([pa.array(amounts, field.type) for field in schema], schema=schema)
pq.write_table(table, "amounts.parquet", store_decimal_as_integer=True, version="1.0", use_dictionary=False)
PY
cat > main.go <<'GO'
package main
import ("fmt"; "github.com/xitongsys/parquet-go-source/local"; "github.com/xitongsys/parquet-go/reader"; "github.com/xitongsys/parquet-go/types")
func check(err error) { if err != nil { panic(err) } }
type row struct {
	Small int32  `parquet:"name=int32, type=INT32, convertedtype=DECIMAL, scale=2, precision=9"`
	Large int64  `parquet:"name=int64, type=INT64, convertedtype=DECIMAL, scale=2, precision=18"`
	Bytes string `parquet:"name=bytes, type=FIXED_LEN_BYTE_ARRAY, length=9, convertedtype=DECIMAL, scale=2, precision=20"`
}
func main() {
	file, err := local.NewLocalFileReader("amounts.parquet"); check(err)
	parquet, err := reader.NewParquetReader(file, new(row), 1); check(err)
	rows := make([]row, parquet.GetNumRows())
	check(parquet.Read(&rows))
	for _, row := range rows {
		fmt.Printf("%d: int32 %s, int64 %s, bytes %s\n", row.Small, types.DECIMAL_INT_ToString(int64(row.Small), 9, 2),
			types.DECIMAL_INT_ToString(row.Large, 18, 2), types.DECIMAL_BYTE_ARRAY_ToString([]byte(row.Bytes), 20, 2))
	}
	fmt.Println("5:", types.DECIMAL_INT_ToString(5, 9, 2))
	fmt.Println("-110 in two bytes:", types.DECIMAL_BYTE_ARRAY_ToString([]byte{0xff, 0x92}, 20, 2))
}
GO
{ go mod init finding && go get github.com/xitongsys/parquet-go@v1.6.2 \
  github.com/xitongsys/parquet-go-source/local@v0.0.0-20241021075129-b732d2ac9c9b && go mod tidy; } > go.log 2>&1 || { cat go.log; exit 1; }
go run . > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
1234: int32 12.34, int64 12.34, bytes 12.34
1205: int32 12.5, int64 12.5, bytes 12.05
10000: int32 100.0, int64 100.0, bytes 100.00
-110: int32 -1.-10, int64 -1.-10, bytes 47223664828696452135.86
-1234: int32 -12.-34, int64 -12.-34, bytes 47223664828696452124.62
5: 0.5
-110 in two bytes: 654.26
EXPECTED
echo "as described: 12.05 is 12.5"
