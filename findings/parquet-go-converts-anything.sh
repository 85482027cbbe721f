#!/usr/bin/env bash
# parquet-go reads the number 3000000000 as -1294967296 into an int64 and as 18446744072414584320 into a uint64, and 12.34 as 1.7e-314.
#
# Expected: the fields of a Go struct are filled with the values of the columns of their name. What does not fit, or has no conversion, is
#   an error, as it is for a column whose name or nesting does not fit; a wider type holds all that is in a narrower one.
# Seen (parquet-go 0.32.0, a file of pyarrow 26; parquet.ReadFile and parquet.NewGenericReader alike):
#   uint32 above 2^31: negative in an int64, a float64 and a string, near 2^64 in a uint64. Only a field that is uint32 has it right.
#   decimal(9, 2), as pyarrow writes it: 12.34 is 1.74e-314 in a float64 and 3523477504 in an int64, its bytes in another order. Written
#     as an integer (store_decimal_as_integer) it is 1234.
#   int64 in an int32 keeps its low bits, 2.75 in an int64 is 2, null is 0 unless the field is a pointer.
#   Timestamps of any unit are right in a time.Time. No error, no warning.
# Why it matters: TCP sequence numbers, addresses and hashes are uint32, and half of them are above 2^31; int64 is what one takes "to be
#   safe". Files of the same program are right, as its structs wrote them: it is another writer's file that changes.
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

for name, values, settings in (
    ("uint32", pa.array([5, 3_000_000_000], pa.uint32()), {}),
    ("decimal", pa.array([Decimal("12.34"), Decimal("0.05")], pa.decimal128(9, 2)), {}),
    ("decimal-as-integer", pa.array([Decimal("12.34"), Decimal("0.05")], pa.decimal128(9, 2)), {"store_decimal_as_integer": True}),
    ("int64", pa.array([5, 3_000_000_000]), {}),
    ("double", pa.array([2.75, -2.75]), {}),
    ("null", pa.array([1, None]), {}),
):
    pq.write_table(pa.table({"value": values}), name + ".parquet", **settings)
PY
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "github.com/parquet-go/parquet-go")
func check(err error) { if err != nil { panic(err) } }
type row[T any] struct { Value T `parquet:"value"` }
func read[T any](name string) {
	rows, err := parquet.ReadFile[row[T]](name + ".parquet"); check(err)
	file, err := os.Open(name + ".parquet"); check(err)
	again := make([]row[T], 2)
	_, err = parquet.NewGenericReader[row[T]](file).Read(again)
	var kind T
	fmt.Printf("%s as %T: %v", name, kind, rows)
	if fmt.Sprint(rows) != fmt.Sprint(again) { fmt.Printf(", or %v", again) }
	fmt.Println()
}
func main() {
	read[uint32]("uint32"); read[int64]("uint32"); read[uint64]("uint32"); read[float64]("uint32"); read[string]("uint32")
	read[float64]("decimal"); read[int64]("decimal"); read[float64]("decimal-as-integer")
	read[int32]("int64"); read[int64]("double"); read[int64]("null")
}
GO
{ go mod init finding && go get github.com/parquet-go/parquet-go@v0.32.0; } > go.log 2>&1
go run . > seen 2> log || { cat go.log log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what parquet-go 0.32.0 did when this was written"; exit 1; }
uint32 as uint32: [{5} {3000000000}]
uint32 as int64: [{5} {-1294967296}]
uint32 as uint64: [{5} {18446744072414584320}]
uint32 as float64: [{5} {-1.294967296e+09}]
uint32 as string: [{5} {-1294967296}]
decimal as float64: [{1.7408291886e-314} {4.14452303e-316}]
decimal as int64: [{3523477504} {83886080}]
decimal-as-integer as float64: [{1234} {5}]
int64 as int32: [{5} {-1294967296}]
double as int64: [{2} {-2}]
null as int64: [{1} {0}]
EXPECTED
echo "as described: a field of another type gets another number"
