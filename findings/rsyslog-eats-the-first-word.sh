#!/usr/bin/env bash
# rsyslog as a Kafka consumer: of "request took 12 ms" the message is "took 12 ms", of "4711" nothing; empty values and ends are
#   missing.
#
# Expected: imkafka hands out what is in the topic: %msg% is a record's value, whatever it is, %timestamp% the record's time. What
#   cannot be taken whole is an error.
# Seen (rsyslog 8.2302 of Debian 12; thirteen records, time 2023):
#   Values go through the parser for syslog lines, and the first word, up to a colon or blank, is taken for the program's name:
#     "disk full" is left of "error: disk full", "//x/y 200" of "http://x/y 200". A value of one word is empty.
#     What begins with a brace or bracket is whole, so a topic with JSON is right; its record's key is then the program's name.
#   The time is that of the reading, or one that the value begins with.
#   Empty values and nulls do not come at all, and of 9000 bytes 8096 are left. rsyslogd says nothing of either.
# Why it matters: topics are archived with it, and replayed from the archive with another time. Trials are done with JSON; the lines
#   of the one service that writes plain text lack a word, which may be the level, the id or the number. %rawmsg% is the value, up
#   to 8096 bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3 timeout; do command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download rsyslog=8.2302.0-1+deb12u2 rsyslog-kafka=8.2302.0-1+deb12u2 libestr0 libfastjson4 liblognorm5 librdkafka1 \
  >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
mkdir state
cat > finding.py <<'PY'
import os, pathlib, subprocess
from confluent_kafka import Producer

values = [b"request took 12 ms", b"error: disk full", b"http://x/y 200", b"4711", b"<34>Oct 11 22:14:15 host app: went down", b'{"id":1,"ms":12}',
          b'["x", 1]', b"2026-01-01T10:00:00Z host1 took 5 ms", b"", None, b"x " * 4500, b"two\nlines here", b"the last one"]
broker = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "-", "log_level": 0})  # a broker of librdkafka, in this process
(host,) = broker.list_topics(timeout=10).brokers.values()
for number, value in enumerate(values):
    broker.produce("t", value, f"key{number}", partition=0, timestamp=1_700_000_000_000)
assert broker.flush(10) == 0
here, libraries = pathlib.Path().absolute(), pathlib.Path("root/usr/lib/x86_64-linux-gnu").absolute()
pathlib.Path("rsyslog.conf").write_text(f'''
global(workDirectory="{here}/state")
module(load="imkafka")
input(type="imkafka" topic="t" broker="{host.host}:{host.port}" consumergroup="g" confParam=["auto.offset.reset=earliest"])
template(name="line" type="string" string="%timestamp:::date-year%\\t%syslogtag%\\t%msg%\\t%rawmsg%\\n")
action(type="omfile" file="{here}/read" template="line")
''')
told = subprocess.run(["timeout", "12", "root/usr/sbin/rsyslogd", "-n", "-f", "rsyslog.conf", "-i", "pid", "-M", libraries / "rsyslog"],
    env={**os.environ, "LD_LIBRARY_PATH": str(libraries)}, capture_output=True, text=True)
print("rsyslogd says:", (told.stdout + told.stderr).strip() or "nothing")
lines = [line.split("\t") for line in pathlib.Path("read").read_text().splitlines()]
print(f"{len(values)} records, {len(lines)} lines")
for year, program, message, raw in lines:
    year = year if year == "2026" and raw.startswith("2026") else "2023" if year == "2023" else "not 2023"
    print(f"{raw if len(raw) < 100 else f'{len(raw)} bytes of 9000'} | program {program} | message {message[:40]!r} | {year}")
PY
env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
rsyslogd says: nothing
13 records, 11 lines
request took 12 ms | program request | message ' took 12 ms' | not 2023
error: disk full | program error: | message ' disk full' | not 2023
http://x/y 200 | program http: | message '//x/y 200' | not 2023
4711 | program 4711 | message '' | not 2023
<34>Oct 11 22:14:15 host app: went down | program host | message ' app: went down' | not 2023
{"id":1,"ms":12} | program key5 | message '{"id":1,"ms":12}' | not 2023
["x", 1] | program key6 | message '["x", 1]' | not 2023
2026-01-01T10:00:00Z host1 took 5 ms | program host1 | message ' took 5 ms' | 2026
8096 bytes of 9000 | program x | message ' x x x x x x x x x x x x x x x x x x x x' | not 2023
two#012lines here | program two#012lines | message ' here' | not 2023
the last one | program the | message ' last one' | not 2023
EXPECTED
echo "as described: the message lacks its first word"
