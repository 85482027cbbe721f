#!/usr/bin/env bash
# syslog-ng's json-parser keeps six places of a number: a latency of 0.000000123 s is 0.000000, and ids above 2^63 are one id.
#
# Expected: what is parsed and written again is the same JSON; or a number that cannot be kept is an error.
# Seen (syslog-ng 3.38.1 of Debian 12, json-parser and format-json; the types that @version: 4.0 adds change no number):
#   Fractions have six places behind the point, however small they are: 1.5e-7 is 0.000000, and 0.1234567890123 is 0.123457.
#   Whole numbers above 2^63 - 1, as unsigned ids are, become 9223372036854775807, all of them. Nothing is said.
#   Of an array ["x,y", "z"] three elements are left, with types too; without them null is an empty text.
# Why it matters: latencies in seconds become zero on their way through a log pipeline into a topic, and so do shares and rates;
#   two traces or hosts get one id. Milliseconds with few places are right, so trials do not show it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3 timeout; do command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download syslog-ng-core=3.38.1-5+deb12u1 libivykis0 libjson-c5 libnet1 libesmtp6 libpcre3 >apt.log 2>&1 ||
  { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
cat > in.log <<'JSON'
{"latency": 0.000000123}
{"latency": 1.5e-7}
{"share": 0.1234567890123}
{"id": 9223372036854775807}
{"id": 9223372036854775808}
{"id": 12345678901234567890}
{"offset": 9007199254740993}
{"ms": 12.5}
{"none": null}
{"list": ["x,y", "z"]}
JSON
cat > finding.py <<'PY'
import os, pathlib, subprocess, time

here = pathlib.Path().absolute()
base = here / "root"
libraries = base / "usr/lib/x86_64-linux-gnu", base / "lib/x86_64-linux-gnu", base / "usr/lib/syslog-ng", *(base / "usr/lib/syslog-ng").glob("*")
sent = pathlib.Path("in.log").read_text().splitlines()


def written(version: str) -> list[str]:
    out = here / f"out-{version}"
    pathlib.Path("conf").write_text(f'''@version: {version}
source s {{ file("{here}/in.log" flags(no-parse) follow-freq(0.1)); }};
parser p {{ json-parser(prefix(".j.")); }};
destination d {{ file("{out}" template("$(format-json --key .j.* --shift-levels 2)\\n") flush-lines(1)); }};
log {{ source(s); parser(p); destination(d); }};
''')
    modules = next((base / "usr/lib/syslog-ng").glob("*"))
    program = subprocess.Popen(
        [base / "usr/sbin/syslog-ng", "-F", "-f", "conf", "--no-caps", "-R", f"persist-{version}", "-p", "pid", "-c", "ctl",
         "--module-path", modules],
        env={**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}, stdout=subprocess.DEVNULL, stderr=open("log", "w"))
    try:
        for _ in range(200):
            time.sleep(0.1)
            if out.exists() and len(out.read_text().splitlines()) == len(sent):
                return out.read_text().splitlines()
    finally:
        program.terminate()
        program.wait(10)
    raise SystemExit(pathlib.Path("log").read_text())


for before, plain, typed in zip(sent, written("3.38"), written("4.0")):
    print(f"{before} -> {plain} -- with types: {typed}")
PY
python3 finding.py > seen 2> said || { cat said; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what syslog-ng 3.38.1 did when this was written"; exit 1; }
{"latency": 0.000000123} -> {"latency":"0.000000"} -- with types: {"latency":0.000000}
{"latency": 1.5e-7} -> {"latency":"0.000000"} -- with types: {"latency":0.000000}
{"share": 0.1234567890123} -> {"share":"0.123457"} -- with types: {"share":0.123457}
{"id": 9223372036854775807} -> {"id":"9223372036854775807"} -- with types: {"id":9223372036854775807}
{"id": 9223372036854775808} -> {"id":"9223372036854775807"} -- with types: {"id":9223372036854775807}
{"id": 12345678901234567890} -> {"id":"9223372036854775807"} -- with types: {"id":9223372036854775807}
{"offset": 9007199254740993} -> {"offset":"9007199254740993"} -- with types: {"offset":9007199254740993}
{"ms": 12.5} -> {"ms":"12.500000"} -- with types: {"ms":12.500000}
{"none": null} -> {"none":""} -- with types: {"none":null}
{"list": ["x,y", "z"]} -> {"list":"x,y,z"} -- with types: {"list":["x","y","z"]}
EXPECTED
echo "as described: six places, and one id"
