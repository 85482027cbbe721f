#!/usr/bin/env bash
# nfdump's flows end before they begin: "last seen, raw" (%ter) loses the tenths of a second, and csv all of them.
#
# Expected: -o "fmt:%tsr %ter" gives each flow's first and last packet as seconds since 1970 with milliseconds, for scripts; last
#   minus first is the duration (%td). The formats of one program differ in form, not in time.
# Seen (nfdump 1.7.1 of Debian 12; flows of 250 ms, made of a capture by nfpcapd): %tsr is right, %ter has the milliseconds modulo
#   100: .373 is .073, .750 is .050. A flow from .123 to .373 lasts -50 ms, one from .500 to .750 -450 ms. %te, the same moment as
#   text, is right, and so are json and pipe; csv has whole seconds for both and a duration with milliseconds, so that its end minus
#   its beginning is 0 or 1 s. A flow that ends in the first tenth of a second is right in all.
# Why it matters: raw times are what one takes to join flows with packets or logs. Most durations made of them are plausible, up to
#   0.9 s too short; only the negative ones show that something is wrong, and they look like a clock that was set.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3; do command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download nfdump=1.7.1-2+deb12u1 libpcap0.8 libdbus-1-3 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
export PATH="$work/root/usr/bin:$PATH" LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
python3 - <<'PY'
import struct

with open("capture.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
    for second, begin in enumerate((7, 123, 500, 800)):
        for milliseconds in (begin, begin + 250):
            tcp = struct.pack(">HHIIBBHHH", 40_000 + second, 9092, 1, 1, 0x50, 0x18, 65_535, 0, 0) + b"ten bytes."
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + bytes((10, 0, 0, 1, 10, 0, 0, 2))
            data = bytes(12) + b"\x08\x00" + ip + tcp
            moment = 1_772_359_200 + second + milliseconds // 1000, milliseconds % 1000 * 1000
            file.write(struct.pack("<IIII", *moment, len(data), len(data)) + data)
PY
mkdir flows && nfpcapd -r capture.pcap -l flows > log 2>&1 || { cat log; exit 1; }
export TZ=UTC
for format in 'fmt:%tsr %ter %td' 'fmt:%ts %te' csv pipe; do
  echo "$format:"
  nfdump -R flows -q -o "$format" | if [ "$format" = csv ]; then cut -d, -f1-3; elif [ "$format" = pipe ]; then cut -d'|' -f2,3; else cat; fi
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these tools of Debian 12 did when this was written"; exit 1; }
fmt:%tsr %ter %td:
1772359200.007 1772359200.057     00:00:00.250
1772359201.123 1772359201.073     00:00:00.250
1772359202.500 1772359202.050     00:00:00.250
1772359203.800 1772359204.050     00:00:00.250
fmt:%ts %te:
2026-03-01 10:00:00.007 2026-03-01 10:00:00.257
2026-03-01 10:00:01.123 2026-03-01 10:00:01.373
2026-03-01 10:00:02.500 2026-03-01 10:00:02.750
2026-03-01 10:00:03.800 2026-03-01 10:00:04.050
csv:
2026-03-01 10:00:00,2026-03-01 10:00:00,0.250
2026-03-01 10:00:01,2026-03-01 10:00:01,0.250
2026-03-01 10:00:02,2026-03-01 10:00:02,0.250
2026-03-01 10:00:03,2026-03-01 10:00:04,0.250
pipe:
1772359200007|1772359200257
1772359201123|1772359201373
1772359202500|1772359202750
1772359203800|1772359204050
EXPECTED
echo "as described: flows end before they begin"
