#!/usr/bin/env bash
# librdkafka 2.16.0 reconnects 20 times a second where reconnect.backoff.ms should slow it down to a few times a minute.
#
# Expected: reconnect.backoff.ms (100) doubles with each failure up to reconnect.backoff.max.ms (10 s), with a jitter of -25 %
#   to +50 %: three or four connections in five seconds, as in 2.10 to 2.14.
# Seen: where every broker accepts the connection and closes it, the steps stay at 50 ms for ever, half of the smallest
#   backoff; with reconnect.backoff.ms=2000 they are 1 s. metadata.recovery.strategy=none brings the doubling back: when no
#   broker is left the default, rebootstrap (KIP-899), begins anew with the bootstrap servers, and in 2.16 with the first
#   backoff.
# Why it matters: that is what a client sees behind a load balancer whose brokers are gone, or with TLS on a plaintext port. A
#   hundred clients make 2,000 connections a second; in a capture it looks like an attack or a loop in the application.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > count.py <<'PY'
import socket, threading, time
import confluent_kafka
from confluent_kafka.admin import AdminClient

def steps(settings):
    """Milliseconds between the connections of one client in five seconds, each closed when its first frame has come."""
    server, times = socket.create_server(("127.0.0.1", 0)), []

    def accept():
        while True:
            connection, _ = server.accept()
            times.append(time.monotonic())
            connection.recv(4096)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    client = AdminClient({"bootstrap.servers": "127.0.0.1:%d" % server.getsockname()[1], "log_level": 0, **settings})
    try:
        client.list_topics(timeout=5)
    except confluent_kafka.KafkaException:
        pass
    return [1000 * (after - before) for before, after in zip(times, times[1:])]

def said(steps):
    if len(steps) > 40:
        return "more than 40, the median step 50 ms" if 40 < sorted(steps)[len(steps) // 2] < 65 else "more than 40"
    return "2 to 5, ever slower" if 1 <= len(steps) <= 4 and steps == sorted(steps) else f"others: {steps}"

version = confluent_kafka.libversion()[0]
print(f"librdkafka {version}, default:", said(steps({})))
print(f"librdkafka {version}, metadata.recovery.strategy=none:", said(steps({"metadata.recovery.strategy": "none"})))
PY
for version in 2.14.0 2.16.1; do
    python3 -m venv "env$version"
    "env$version/bin/pip" -q --disable-pip-version-check install "confluent-kafka==$version"
    "env$version/bin/python" count.py
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
librdkafka 2.14.0, default: 2 to 5, ever slower
librdkafka 2.14.0, metadata.recovery.strategy=none: 2 to 5, ever slower
librdkafka 2.16.0, default: more than 40, the median step 50 ms
librdkafka 2.16.0, metadata.recovery.strategy=none: 2 to 5, ever slower
EXPECTED
echo "as described: 2.16 forgets its backoff with each new start"
