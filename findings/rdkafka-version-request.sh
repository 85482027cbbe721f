#!/usr/bin/env bash
# api.version.request=false does not keep librdkafka (confluent-kafka 2.16.1) from asking for versions, nor api_version
#   kafka-python.
#
# Expected: librdkafka's settings say that with false the versions of broker.version.fallback are used, so the first frame is
#   Metadata. kafka-python's api_version=(2, 8) says that no versions are looked for.
# Seen: librdkafka sends ApiVersions v3 first, whatever api.version.request says, as long as broker.version.fallback is 0.10.0
#   (its default) or later: only with 0.9 and both settings the first frame is Metadata v0. kafka-python 3.0.12 sends
#   ApiVersions too, in the version of the release that was named: v0 for 0.10, v3 for 2.8, v4 by default.
# Why it matters: proxies and old brokers that cannot answer ApiVersions are the reason for these settings, and its version in
#   a capture is no witness of how a client is configured: fallback alone (0.9) changes nothing either.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 kafka-python==3.0.12

env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import socket, struct, threading
import kafka
from confluent_kafka.admin import AdminClient

NAMES = {3: "Metadata", 18: "ApiVersions"}

def first_frame(connect):
    """Key and version of the first request that a client sends to a server which only listens."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(20)
    threading.Thread(target=connect, args=("127.0.0.1:%d" % server.getsockname()[1],), daemon=True).start()
    connection, _ = server.accept()
    connection.settimeout(20)
    key, version = struct.unpack(">4xhh", connection.recv(8, socket.MSG_WAITALL))
    return f"{NAMES.get(key, key)} v{version}"

def librdkafka(**settings):
    settings = {name.replace("_", "."): value for name, value in settings.items()}
    clients = []

    def connect(address):
        clients.append(AdminClient({"bootstrap.servers": address, "log_level": 0, **settings}))
        try:
            clients[0].list_topics(timeout=2)
        except Exception:
            pass  # nobody answers

    return first_frame(connect)

def python(**settings):
    def connect(address):
        try:
            kafka.KafkaConsumer(bootstrap_servers=address, request_timeout_ms=2000, bootstrap_timeout_ms=2000, **settings)
        except Exception:
            pass

    return first_frame(connect)

print("librdkafka, default:", librdkafka())
print("librdkafka, api.version.request=false:", librdkafka(api_version_request="false"))
print("librdkafka, with broker.version.fallback=2.4.0:", librdkafka(api_version_request="false", broker_version_fallback="2.4.0"))
print("librdkafka, with broker.version.fallback=0.9.0.1:", librdkafka(api_version_request="false", broker_version_fallback="0.9.0.1"))
print("librdkafka, broker.version.fallback=0.9.0.1 alone:", librdkafka(broker_version_fallback="0.9.0.1"))
for version in None, (2, 8), (0, 10):
    print(f"kafka-python, api_version={version}:", python(api_version=version))
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
librdkafka, default: ApiVersions v3
librdkafka, api.version.request=false: ApiVersions v3
librdkafka, with broker.version.fallback=2.4.0: ApiVersions v3
librdkafka, with broker.version.fallback=0.9.0.1: Metadata v0
librdkafka, broker.version.fallback=0.9.0.1 alone: ApiVersions v3
kafka-python, api_version=None: ApiVersions v4
kafka-python, api_version=(2, 8): ApiVersions v3
kafka-python, api_version=(0, 10): ApiVersions v0
EXPECTED
echo "as described: versions are asked for all the same"
