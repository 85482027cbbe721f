#!/usr/bin/env bash
# pkts.io 3.0.10 (Java) gives times in a unit that the file decides, prints wrong fractions, and its copy of a big-endian file is broken.
#
# Expected: getArrivalTime() is in microseconds since 1970, as its documentation says, and the dates in toString() are those of the
#   packets. A copy by createOutputStream() and write() has what was read.
# Seen: of a file in nanoseconds getArrivalTime() is in nanoseconds, and toString() is in the year 55840. The printed epoch time of a
#   file in microseconds is wrong as well: .234567 s is printed as .000234567 s, beside a correct date. Times from 2038 on are
#   negative. A copy of a big-endian file has a big-endian head and little-endian records: nothing is raised, and
#   readers find a packet of 1 GB.
# Why it matters: durations are a thousand times too long where somebody recorded in nanoseconds, the documented example (divide by
#   1000 for a Date) included, and a filter in Java makes captures of other machines (AIX, s390x, many probes) unreadable.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in java mvn python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>io.pkts</groupId><artifactId>pkts-core</artifactId><version>3.0.10</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > captures.py <<'PY'
import struct

frame = bytes(12) + b"\x08\x00" + bytes(46)
for name, order, magic, seconds, fraction in (
    ("microseconds", "<", 0xA1B2C3D4, 1_700_000_001, 234_567),
    ("nanoseconds", "<", 0xA1B23C4D, 1_700_000_001, 234_567_000),
    ("big-endian", ">", 0xA1B2C3D4, 1_700_000_001, 234_567),
    ("year-2040", "<", 0xA1B2C3D4, 2_208_988_800, 0),
):
    head = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, 1)
    record = struct.pack(order + "IIII", seconds, fraction, len(frame), len(frame)) + frame
    with open(name, "wb") as file:
        file.write(head + 2 * record)
PY
cat > Finding.java <<'JAVA'
import io.pkts.Pcap;
import io.pkts.protocol.Protocol;
import java.io.FileOutputStream;

public class Finding {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Pcap capture = Pcap.openStream(name);
            try (var copy = capture.createOutputStream(new FileOutputStream(name + ".copy"))) {
                capture.loop(packet -> {
                    copy.write(packet);
                    System.out.println(name + " " + packet.getArrivalTime() + " "
                        + packet.getPacket(Protocol.PCAP).toString().replaceAll(" Frame.*", ""));
                    return false; // the first is enough
                });
            }
        }
    }
}
JAVA
cat > copies.py <<'PY'
import struct
import sys

for name in sys.argv[1:]:
    with open(name + ".copy", "rb") as file:
        order = ">" if file.read(24)[0] == 0xA1 else "<"
        seconds, fraction, length, _ = struct.unpack(order + "IIII", file.read(16))
        print(f"copy of {name}: time {seconds} {fraction}, a packet of {length} bytes")
PY
names="microseconds nanoseconds big-endian year-2040"
python3 captures.py
{ TZ=UTC java -cp 'jars/*' Finding.java $names && python3 copies.py $names; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what pkts.io 3.0.10 did when this was written"; exit 1; }
microseconds 1700000001234567 Arrival Time: 2023.11.14 22:13:21.234 Epoch Time: 1700000001.000234567
nanoseconds 1700000001234567000 Arrival Time: 55840.11.08 22:33:54.567 Epoch Time: 1700000001.234567000
big-endian 1700000001234567 Arrival Time: 2023.11.14 22:13:21.234 Epoch Time: 1700000001.000234567
year-2040 -2085978496000000 Arrival Time: 1903.11.25 17:31:44.000 Epoch Time: -2085978496.000000000
copy of microseconds: time 1700000001 234567, a packet of 60 bytes
copy of nanoseconds: time 1700000001 234567000, a packet of 60 bytes
copy of big-endian: time 1700000001 234567, a packet of 1006632960 bytes
copy of year-2040: time 2208988800 0, a packet of 60 bytes
EXPECTED
echo "as described: times in the file's own unit, and a copy in two byte orders"
