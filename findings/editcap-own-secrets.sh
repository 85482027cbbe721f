#!/usr/bin/env bash
# editcap 4.0.17 cannot rewrite the files that its own --inject-secrets writes.
#
# Expected: `editcap --inject-secrets tls,KEYS in.pcap out.pcapng` gives an ordinary pcapng; editcap, which reads and writes
#   pcapng, cuts or shifts it like any other.
# Seen: every further run of editcap (a copy, a selection, a split) ends with code 2 and `The capture file being read can't be
#   written as a "pcapng" file.` The secrets stand before the first interface, which is right by the format. editcap chooses
#   the link type of its output before it has read an interface; mergecap likewise. capinfos and tshark take the file, and
#   `tshark -r out.pcapng -w again.pcapng` puts the interface first: editcap can rewrite that one.
# Why it matters: keys are put into a capture in order to give it away; cutting it down afterwards fails, and the words of the
#   error point at the output format. The order must be: cut first, inject last.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in editcap tshark mergecap capinfos; do
    command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12 (apt-get install tshark)"; exit 1; }
done
editcap --version | head -1 | grep -q "4\.0\.17" || echo "note: written for editcap 4.0.17, here: $(editcap --version | head -1)"

python3 - <<'PY'
import struct

with open("in.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second in range(3):
        file.write(struct.pack("<IIII", second, 0, 60, 60) + bytes(60))
with open("keys", "w") as file:
    file.write("CLIENT_RANDOM " + "00" * 32 + " " + "00" * 48 + "\n")
PY

try() {
    local code=0
    "$@" >out 2>&1 || code=$?
    echo "$* -> $code"
}
{
    try editcap --inject-secrets tls,keys in.pcap keyed.pcapng
    try capinfos -c keyed.pcapng
    try editcap keyed.pcapng copy.pcapng
    try editcap -r keyed.pcapng part.pcapng 1-2
    try editcap --discard-all-secrets keyed.pcapng bare.pcapng
    try mergecap -w merged.pcapng keyed.pcapng
    try tshark -r keyed.pcapng -w again.pcapng
    try editcap again.pcapng copy.pcapng
} > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what editcap 4.0.17 did when this was written"; exit 1; }
editcap --inject-secrets tls,keys in.pcap keyed.pcapng -> 0
capinfos -c keyed.pcapng -> 0
editcap keyed.pcapng copy.pcapng -> 2
editcap -r keyed.pcapng part.pcapng 1-2 -> 2
editcap --discard-all-secrets keyed.pcapng bare.pcapng -> 2
mergecap -w merged.pcapng keyed.pcapng -> 2
tshark -r keyed.pcapng -w again.pcapng -> 0
editcap again.pcapng copy.pcapng -> 0
EXPECTED
echo "as described: editcap refuses a capture into which it put the keys itself"
