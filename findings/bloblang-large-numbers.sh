#!/usr/bin/env bash
# Bloblang (Benthos 4.60.0, Redpanda Connect's language) tells large integers apart with ==, and takes them for one with match.
#
# Expected: a document's numbers are exact (id 9007199254740993 is copied, added to and compared so), or they are doubles; one
#   program has one rule. What leaves 64 bits is an error, as it is for .uint64().
# Seen: ==, > and + are exact. match, contains() and unique() compare doubles, so two ids that == tells apart are one: unique() drops
#   the second, match takes the branch of the first. max(), sum(), number() and a division return 9007199254740992, whole numbers that
#   nobody wrote; so does parse_json() of the same bytes that "this" reads exactly, unless it is told use_number. The largest int64
#   plus 1 is negative; 18446744073709551615 (a uint64) plus 1 is a double, and modulo 10 it is -8. No error, no log.
# Why it matters: ids of 64 bits and moments in nanoseconds are above 2^53. A pipeline between two topics that was tried with small
#   ids drops "duplicates" and sends some records along another's branch; copies beside it are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v go >/dev/null || { echo "needs Go 1.25 or newer"; exit 1; }
cat > go.mod <<'GO'
module finding

go 1.25.0

require github.com/redpanda-data/benthos/v4 v4.60.0
GO
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() {
	document := []byte(`{"id":9007199254740993,"less":9007199254740992,"largest":9223372036854775807,"unsigned":18446744073709551615}`)
	for _, of := range []string{
		`this.id`, `this.id + 1`, `this.id == this.less`, `this.id > this.less`, `this.id.string()`, `this.id.int64()`,
		`match this.id { 9007199254740992 => "the other", _ => "right" }`, `[this.less].contains(this.id)`, `[this.id, this.less].unique()`,
		`[this.id, 1].max()`, `[this.id].sum()`, `this.id.number()`, `this.id / 1`,
		`content().parse_json().id`, `content().parse_json(use_number: true).id`,
		`this.largest + 1`, `this.unsigned`, `this.unsigned + 1`, `this.unsigned % 10`,
	} {
		program, err := bloblang.Parse("root = " + of)
		if err != nil {
			panic(err)
		}
		answer, err := service.NewMessage(document).BloblangQuery(program)
		if err != nil {
			panic(err)
		}
		value, _ := answer.AsBytes()
		fmt.Printf("%s: %s\n", of, value)
	}
}
GO
go mod tidy >log 2>&1 && go run . > seen 2>> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Benthos 4.60.0 did when this was written"; exit 1; }
this.id: 9007199254740993
this.id + 1: 9007199254740994
this.id == this.less: false
this.id > this.less: true
this.id.string(): 9007199254740993
this.id.int64(): 9007199254740993
match this.id { 9007199254740992 => "the other", _ => "right" }: the other
[this.less].contains(this.id): true
[this.id, this.less].unique(): [9007199254740993]
[this.id, 1].max(): 9007199254740992
[this.id].sum(): 9007199254740992
this.id.number(): 9007199254740992
this.id / 1: 9007199254740992
content().parse_json().id: 9007199254740992
content().parse_json(use_number: true).id: 9007199254740993
this.largest + 1: -9223372036854775808
this.unsigned: 18446744073709551615
this.unsigned + 1: 18446744073709552000
this.unsigned % 10: -8
EXPECTED
echo "as described: two ids are two to ==, and one to match"
