#!/usr/bin/env bash
# librdkafka's request for the metadata of all topics is three bytes too long, and Apache's decoder takes its flags from padding.
#
# Expected: a null array of Metadata v12 is one byte (KIP-482), and behind it stand allow_auto_topic_creation,
#   include_topic_authorized_operations and the tagged fields: the body has four bytes in all.
# Seen: confluent-kafka 2.16.1 (librdkafka 2.16.0) writes four zero bytes for the null array, then the flags. list_topics() of an
#   AdminClient sends it; with a topic's name the request is as it should be. Apache's own classes (kafka-clients 4.4.0) read the
#   null array from the first zero byte and both flags from the next two: allow_auto_topic_creation is false where librdkafka wrote
#   true, and three bytes are left over, which a broker does not look at.
# Why it matters: a strict decoder (a proxy, a dissector) calls these requests malformed, of the most usual client outside Java;
#   and a flag in a capture of them is not what the client asked for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1

env/bin/python - > bodies 2> log <<'PY' || { cat log; exit 1; }
import socket, struct, threading
from confluent_kafka.admin import AdminClient

# Of ApiVersions v3: no error, Metadata to v12 and ApiVersions to v3, no throttling.
VERSIONS = struct.pack(">hB", 0, 3) + struct.pack(">hhhB", 3, 0, 12, 0) + struct.pack(">hhhB", 18, 0, 3, 0) + struct.pack(">iB", 0, 0)

def metadata_bodies(server, found):
    """Bodies of Metadata requests, in hex; no answer to them."""
    connection, _ = server.accept()
    connection.settimeout(20)
    while True:
        size, = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
        frame = connection.recv(size, socket.MSG_WAITALL)
        key, version, correlation, client = struct.unpack(">hhih", frame[:10])
        if key == 18:
            connection.sendall(struct.pack(">ii", 4 + len(VERSIONS), correlation) + VERSIONS)
            continue
        assert (key, version) == (3, 12), (key, version)
        found.append(frame[10 + client + 1:].hex())

def asked(topic):
    server = socket.create_server(("127.0.0.1", 0))
    found = []
    threading.Thread(target=metadata_bodies, args=(server, found), daemon=True).start()
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:%d" % server.getsockname()[1], "log_level": 0, "client.id": "look"})
    try:
        admin.list_topics(topic, timeout=3)
    except Exception:
        pass  # nobody answers
    return found

named = [body for body in asked("orders") if "6f7264657273" in body]
every = [body for body in asked(None) if body.startswith("0000")]
print(named[0])
print(every[0])
PY
cat > Read.java <<'JAVA'
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.HexFormat;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;

class Read {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("bodies"))) {
            ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(line));
            MetadataRequestData read = new MetadataRequestData(new ByteBufferAccessor(bytes), (short) 12);
            System.out.println(line + ": " + (read.topics() == null ? "all topics" : read.topics().size() + " topic")
                + ", allow_auto_topic_creation " + read.allowAutoTopicCreation() + ", bytes left over " + bytes.remaining());
        }
    }
}
JAVA
java -cp 'jars/*' Read.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
0200000000000000000000000000000000076f726465727300010000: 1 topic, allow_auto_topic_creation true, bytes left over 0
00000000010000: all topics, allow_auto_topic_creation false, bytes left over 3
EXPECTED
echo "as described: three bytes too many, and the flags are read from the zeros before them"
