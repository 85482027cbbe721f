#!/usr/bin/env bash
# pyarrow and arrow-go: a third of the decimals with one place become another double than the number written so; 4.35 is none.
#
# Expected: a cast of decimal to float64 gives the nearest double, as a literal and a parser of text do and as DuckDB's cast does,
#   so that 4.35 is equal to 4.35.
# Seen (pyarrow 26.0.1 and apache/arrow-go 18.9.0; beside DuckDB 1.5.0): the cast, a safe one that refuses to lose data,
#   multiplies by a power of ten that is itself rounded: 0.35 is 0.35000000000000003, 1234567.89 ends in 8900000001. Of the
#   million decimals from 0 on, the doubles that are not the nearest are 347579 with one place, 134844 with two, 305678 with six
#   in Go. The way back is right, so a round trip shows nothing, and so are the decimals as text.
# Why it matters: behind the cast "amount = 4.35" finds no row, and groups and joins by amount fall apart from those of another
#   tool.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func main() {
	texts := `["0.30", "0.35", "0.50", "4.35", "19.99", "1234567.89"]`
	for _, kind := range []arrow.DataType{&arrow.Decimal128Type{Precision: 10, Scale: 2}, &arrow.Decimal256Type{Precision: 10, Scale: 2}} {
		decimals, _, err := array.FromJSON(memory.DefaultAllocator, kind, strings.NewReader(texts))
		if err != nil { panic(err) }
		doubles, err := compute.CastArray(context.Background(), decimals, compute.SafeCastOptions(arrow.PrimitiveTypes.Float64))
		fmt.Println(kind, doubles, err)
	}
	for scale, power := int32(1), int64(10); scale <= 6; scale, power = scale+1, power*10 {
		other, lost := 0, 0
		for n := int64(0); n < 1_000_000; n++ {
			nearest, _ := strconv.ParseFloat(fmt.Sprintf("%d.%0*d", n/power, scale, n%power), 64)
			double := decimal128.FromI64(n).ToFloat64(scale)
			if double != nearest { other++ }
			if back, err := decimal128.FromFloat64(double, 20, scale); err != nil || back != decimal128.FromI64(n) { lost++ }
		}
		fmt.Printf("%d places: %d of a million are not the nearest, %d do not come back\n", scale, other, lost)
	}
}
GO
{ go mod init finding && go get github.com/apache/arrow-go/v18@v18.9.0 && go mod tidy; } > go.log 2>&1 || { cat go.log; exit 1; }
go run . > seen 2> log || { cat log; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyarrow==26.0.1 duckdb==1.5.0
env/bin/python - >> seen <<'PY'
import duckdb, pyarrow as pa, pyarrow.compute as pc

texts = ["0.30", "0.35", "0.50", "4.35", "19.99", "1234567.89"]
decimals = pa.array(texts).cast(pa.decimal128(10, 2))
print("pyarrow", *decimals.cast(pa.float64()).to_pylist(), "-- equal to 4.35:", pc.sum(pc.equal(decimals.cast(pa.float64()), 4.35)))
print("DuckDB", *(duckdb.sql(f"SELECT '{text}'::DECIMAL(10, 2)::DOUBLE").fetchone()[0] for text in texts))
for places in (1, 2, 6):
    texts = [f"{n // 10**places}.{n % 10**places:0{places}}" for n in range(1_000_000)]
    doubles = pa.array(texts).cast(pa.decimal128(20, places)).cast(pa.float64()).to_pylist()
    print(f"pyarrow, {places} places: {sum(double != float(text) for double, text in zip(doubles, texts))} of a million are not the nearest")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
decimal(10, 2) [0.3 0.35000000000000003 0.5 4.3500000000000005 19.990000000000002 1.2345678900000001e+06] <nil>
decimal256(10, 2) [0.3 0.35000000000000003 0.5 4.3500000000000005 19.990000000000002 1.2345678900000001e+06] <nil>
1 places: 347579 of a million are not the nearest, 0 do not come back
2 places: 134844 of a million are not the nearest, 0 do not come back
3 places: 139554 of a million are not the nearest, 0 do not come back
4 places: 306756 of a million are not the nearest, 0 do not come back
5 places: 524957 of a million are not the nearest, 0 do not come back
6 places: 305678 of a million are not the nearest, 0 do not come back
pyarrow 0.3 0.35000000000000003 0.5 4.3500000000000005 19.990000000000002 1234567.8900000001 -- equal to 4.35: 0
DuckDB 0.3 0.35 0.5 4.35 19.99 1234567.89
pyarrow, 1 places: 347579 of a million are not the nearest
pyarrow, 2 places: 134844 of a million are not the nearest
pyarrow, 6 places: 305678 of a million are not the nearest
EXPECTED
echo "as described: 4.35 is none"
