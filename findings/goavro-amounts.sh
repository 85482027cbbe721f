#!/usr/bin/env bash
# goavro writes an amount that is too large as 0.00, cannot write 0, and makes -2.00 of -1.999; a day of 1969 is one of 1970.
#
# Expected: a decimal that has more digits than the schema's precision or scale is an error, as it is to Avro's own libraries, or is rounded
#   to the nearest; a value that does not fit into a "fixed" is an error. Zero is an amount. A date is the day of the time that is given.
# Seen (goavro 2.15.0, hamba/avro 2.31.0, Go; read by fastavro 1.13.1 for Python as well):
#   fixed of 4 bytes, decimal(9, 2): goavro writes 21474836.48 and all above as four zero bytes, without an error; 0 is an error ("datum
#     size ought to equal schema size: 1 != 4"). Its precision is no limit: 12345678.90 is written, with ten digits. hamba refuses them.
#   Both cut decimal places downwards: 1.999 is 1.99, -1.999 is -2.00 and -0.001 is -0.01. 1/3 is 0.33.
#   Both make 1970-01-01 of noon of 1969-12-31 (a date; earlier ones are a day late too), and take the day in UTC: midnight in Berlin
#     on 1 July 2026 is 30 June.
# Why it matters: sums and limits are the large ones, and 0.00 is a plausible amount. Rows with 0 fail where most pass, and a fee that
#   goes the other way is a cent larger than the same fee. Positive amounts with two places, which tests have, are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install fastavro==1.13.1
cat > main.go <<'GO'
package main
import ("fmt"; "math/big"; "time"; "github.com/hamba/avro/v2"; "github.com/linkedin/goavro/v2")
const (
	FIXED = `{"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":9,"scale":2}`
	BYTES = `{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`
	DATE  = `{"type":"int","logicalType":"date"}`
)
func check(err error) { if err != nil { panic(err) } }
func write(schema, text string, value any) {
	codec, err := goavro.NewCodec(schema); check(err)
	bytes, err := codec.BinaryFromNative(nil, value)
	fmt.Printf("goavro\t%s\t%s\t%x\t%t\n", schema, text, bytes, err != nil)
	bytes, err = avro.Marshal(avro.MustParse(schema), value)
	fmt.Printf("hamba\t%s\t%s\t%x\t%t\n", schema, text, bytes, err != nil)
}
func main() {
	for _, text := range []string{"12.34", "21474836.48", "9000000000", "12345678.90", "0", "-1.10"} {
		amount, _ := new(big.Rat).SetString(text)
		write(FIXED, text, amount)
	}
	for _, text := range []string{"1.999", "-1.999", "-0.001", "1/3"} {
		amount, _ := new(big.Rat).SetString(text)
		write(BYTES, text, amount)
	}
	for _, moment := range []time.Time{time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC), time.Date(1969, 6, 30, 12, 0, 0, 0, time.UTC),
		time.Date(2026, 7, 1, 0, 0, 0, 0, time.FixedZone("CEST", 7200))} {
		write(DATE, moment.Format("2006-01-02 15h MST"), moment)
	}
}
GO
{ go mod init finding && go get github.com/linkedin/goavro/v2@v2.15.0 github.com/hamba/avro/v2@v2.31.0; } > go.log 2>&1
cat > read.py <<'PY'
import io, json, sys
import fastavro

results = {}
for line in sys.stdin:
    library, schema, text, written, refused = line.rstrip("\n").split("\t")
    schema = json.loads(schema)
    value = "an error" if refused == "true" else fastavro.schemaless_reader(io.BytesIO(bytes.fromhex(written)), fastavro.parse_schema(schema))
    results.setdefault(f"{schema['type']}, {text}", []).append(f"{library} {value}")
for case, values in results.items():
    print(case + ":", ", ".join(values))
PY
{ go run . > written && env/bin/python read.py < written > seen; } 2> log || { cat go.log log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
fixed, 12.34: goavro 12.34, hamba 12.34
fixed, 21474836.48: goavro 0.00, hamba an error
fixed, 9000000000: goavro 0.00, hamba an error
fixed, 12345678.90: goavro 12345678.9, hamba an error
fixed, 0: goavro an error, hamba 0.00
fixed, -1.10: goavro -1.10, hamba -1.10
bytes, 1.999: goavro 1.99, hamba 1.99
bytes, -1.999: goavro -2.00, hamba -2.00
bytes, -0.001: goavro -0.01, hamba -0.01
bytes, 1/3: goavro 0.33, hamba 0.33
int, 1969-12-31 12h UTC: goavro 1970-01-01, hamba 1970-01-01
int, 1969-06-30 12h UTC: goavro 1969-07-01, hamba 1969-07-01
int, 2026-07-01 00h CEST: goavro 2026-06-30, hamba 2026-06-30
EXPECTED
echo "as described: large amounts are 0.00"
