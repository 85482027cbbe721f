#!/usr/bin/env bash
# A Go client answers its caller with Kafka's error 15, COORDINATOR_NOT_AVAILABLE, which no broker has sent.
#
# Expected: an error of the protocol, with its number, is what the broker said; a group's coordinator that cannot be found is a
#   matter of the cluster (offsets topic, replication).
# Seen: optiopay/kafka 2.1.1 asks a broker (3.9.1) for its versions, and then sends FindCoordinator v1 with the body of v0: the
#   type of the key is missing. The broker cannot read it and closes the connection, each time; its log says so. After its
#   retries the client returns "consumer coordinator not available (15)". So it is with each broker that knows v1 (0.11, 2017).
#   Producing and fetching with the same client work.
# Why it matters: who sees 15 looks at the offsets topic and at the brokers. Nothing is wrong there, in their metrics no such
#   error is counted, and in a capture there is no reply at all.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>3.9.1</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>3.9.1</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version></dependency>
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
offsets.topic.replication.factor=1
CONF
cat > log4j.properties <<'CONF'
log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%m%n
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -Dlog4j.configuration="file:$work/log4j.properties" -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "github.com/optiopay/kafka/v2"; "github.com/optiopay/kafka/v2/proto")
func main() {
	broker, err := kafka.Dial([]string{os.Args[1]}, kafka.NewBrokerConf("finding"))
	if err != nil { panic(err) }
	producer := broker.Producer(kafka.NewProducerConf())
	offset, err := producer.Produce("orders", 0, &proto.Message{Value: []byte("one")})
	fmt.Println("produced at", offset, err)
	from := kafka.NewConsumerConf("orders", 0)
	from.StartOffset = kafka.StartOffsetOldest
	consumer, err := broker.Consumer(from)
	if err != nil { panic(err) }
	message, err := consumer.Consume()
	fmt.Printf("read %q %v\n", message.Value, err)
	_, err = broker.OffsetCoordinator(kafka.NewOffsetCoordinatorConf("readers"))
	fmt.Println("coordinator:", err)
}
GO
go mod init finding >go.log 2>&1
go get github.com/optiopay/kafka/v2@v2.1.1 >>go.log 2>&1
go build -o client . >>go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
java -cp 'jars/*' org.apache.kafka.tools.TopicCommand --bootstrap-server "127.0.0.1:$port" --create --topic orders >topic.log 2>&1
timeout 120 ./client "127.0.0.1:$port" > seen
grep -o 'Error getting request for apiKey: FIND_COORDINATOR, apiVersion: 1' broker.log | sort -u | sed 's/^/broker: /' >> seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what this client did when this was written"; exit 1; }
produced at 0 <nil>
read "one" <nil>
coordinator: consumer coordinator not available (15)
broker: Error getting request for apiKey: FIND_COORDINATOR, apiVersion: 1
EXPECTED
echo "as described: error 15 is the client's own"
