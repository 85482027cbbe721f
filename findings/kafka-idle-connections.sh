#!/usr/bin/env bash
# A Kafka broker (4.4.0) that finds many idle connections closes one of them every 300 ms, not all at once.
#
# Expected: ten connections that fell silent together are closed together when connections.max.idle.ms (here 2 s) is over.
# Seen: the first goes after 2 s and each further one 300 ms later. A network thread looks for expired connections once per
#   poll, closes the oldest one only, and an idle poll lasts 300 ms. A thousand connections of one thread need five minutes,
#   and all the while the last of them has been idle far beyond the limit. A busy thread polls more often and is faster, so
#   the pace tells how busy it was.
# Why it matters: in captures the idle time at which the broker closes looks like a spread of settings or a leaking pool. The
#   limit is the least of these times; 300 ms between FINs (or a divisor of it: one per network thread) is the broker's hand,
#   where a load balancer or a firewall ends all of them in one go.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
cat > server.properties <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
controller.listener.names=CONTROLLER
log.dirs=$work/data
connections.max.idle.ms=2000
num.network.threads=1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
sleep 5  # the probes above are idle connections too

python3 - "$port" > seen <<'PY'
import select, socket, sys, time

waiting = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(10)]
start, ends = time.monotonic(), []
while waiting:
    for closed in select.select(waiting, [], [])[0]:
        waiting.remove(closed)
        ends.append(time.monotonic() - start)
steps = sorted(after - before for before, after in zip(ends, ends[1:]))
print(*(f"{end:.2f}" for end in ends), file=sys.stderr)
print("first after 2 to 3 s:", 2 <= ends[0] < 3)
print("none in company:", steps[0] > 0.15)
print("median step 300 ms:", 0.28 < steps[len(steps) // 2] < 0.36)
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
first after 2 to 3 s: True
none in company: True
median step 300 ms: True
EXPECTED
echo "as described: idle connections are closed one by one"
