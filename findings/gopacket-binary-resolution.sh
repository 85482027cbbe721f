#!/usr/bin/env bash
# gopacket 1.7.7 is wrong by up to 73 ms where a pcapng interface counts time in powers of two.
#
# Expected: half a second, written as 2^29 units of 2^-30 s (if_tsresol 0x9e), is read as half a second: it has an exact value
#   in nanoseconds. tshark 4.0, libpcap 1.10, scapy and dpkt read it so.
# Seen: .536870912 s. The reader takes one unit as a whole number of nanoseconds (1 for 0.93, with 2^-20 s 953 for 953.67) and
#   multiplies, so the error grows with the fraction of the second and starts anew with the next: of 2^-30 s 7 %, of 2^-20 s
#   0.07 %. Decimal resolutions are right. (The file's last times below are 1/1024 s before the full second.)
# Why it matters: clocks of network cards count in binary fractions. Latencies come out 7 % too long, and a request shortly
#   before a full second seems to be answered before it was sent: jitter with a period of one second that no network has.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v go >/dev/null || { echo "needs Go 1.25 or newer"; exit 1; }
cat > go.mod <<'GO'
module finding

go 1.25.0

require github.com/gopacket/gopacket v1.7.7
GO
cat > main.go <<'GO'
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/gopacket/gopacket/pcapgo"
)

func block(kind uint32, body ...uint32) []byte {
	length := uint32(4*len(body) + 12)
	out := binary.LittleEndian.AppendUint32(nil, kind)
	for _, word := range append(append([]uint32{length}, body...), length) {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out
}

func main() {
	for _, bits := range []uint32{10, 20, 30} {
		file := block(0x0A0D0D0A, 0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF)
		file = append(file, block(1, 1, 0, 9|1<<16, 0x80|bits, 0)...)
		second := uint64(1_700_000_000) << bits
		for _, time := range []uint64{second, second + 1<<(bits-1), second + 1<<bits - 1<<(bits-10)} {
			file = append(file, block(6, 0, uint32(time>>32), uint32(time), 4, 4, 0)...)
		}
		reader, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.DefaultNgReaderOptions)
		if err != nil {
			panic(err)
		}
		fmt.Printf("2^-%d s:", bits)
		for range 3 {
			_, info, err := reader.ReadPacketData()
			if err != nil {
				panic(err)
			}
			fmt.Print(" ", info.Timestamp.UTC().Format("05.000000000"))
		}
		fmt.Println()
	}
}
GO
go mod tidy >go.log 2>&1 && go run . > seen || { cat go.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what gopacket 1.7.7 did when this was written"; exit 1; }
2^-10 s: 20.000000000 20.499999744 20.999022926
2^-20 s: 20.000000000 20.499646464 20.998317056
2^-30 s: 20.000000000 20.536870912 21.072693248
EXPECTED
echo "as described: half a second of a binary clock is read as 0.4999997, 0.4996 and 0.5369 s"
