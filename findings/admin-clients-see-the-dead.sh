#!/usr/bin/env bash
# A group that reads by Kafka's new group protocol is "Dead" and has no members to the admin clients of four libraries, three without
#   an error.
#
# Expected: who asks about a group that reads and commits gets its state and its members, or an error: the call does not know that
#   kind of group. The list of groups has it as Stable.
# Seen (Kafka 4.4.0, a group of librdkafka 2.16.0 with group.protocol=consumer that has read 10 and committed 5): DescribeGroups,
#   which is for the classic protocol, answers with state Dead and no members; in its version 6 GROUP_ID_NOT_FOUND stands beside them.
#   kafkajs 2.2.4 and sarama 1.61.1 return Dead with error 0, @platformatic/kafka 1.35.0 DEAD, and it leaves the group out of
#   listGroups(). kadm 1.20.0 of franz-go shows Dead with that error in a field; its Lag() has no error, no partition and the total 0
#   where five records wait. confluent-kafka 2.16.1 says Stable, one member.
# Why it matters: exporters, UIs and clean-up jobs are built on these clients. The day on which a consumer's group.protocol changes it
#   is dead to them: alerts of empty groups fire and the lag is gone, or 0. The consumer works.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" "${member:-}" 2>/dev/null || true; wait; chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go node npm mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
echo "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency></dependencies></project>" > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$control" "log.dirs=$work/data" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control" controller.listener.names=CONTROLLER \
  offsets.topic.replication.factor=1 > server.properties
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
npm install --silent kafkajs@2.2.4 @platformatic/kafka@1.35.0 >npm.log 2>&1
python3 -m venv env && env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
mkdir go && cat > go/main.go <<'GO'
package main
import ("context"; "fmt"; "os"; "github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"; "github.com/twmb/franz-go/pkg/kgo")
func must[T any](value T, err error) T { if err != nil { panic(err) }; return value }
func main() {
	ctx := context.Background()
	first := must(must(sarama.NewClusterAdmin(os.Args[1:], sarama.NewConfig())).DescribeConsumerGroups([]string{"orders"}))[0]
	fmt.Println("sarama:", first.State, len(first.Members), "members, error", first.ErrorCode)
	client := kadm.NewClient(must(kgo.NewClient(kgo.SeedBrokers(os.Args[1:]...))))
	second, lag := must(client.DescribeGroups(ctx, "orders"))["orders"], must(client.Lag(ctx, "orders"))["orders"].Lag
	fmt.Println("kadm:", second.State, len(second.Members), "members, error", second.Err, "lag", lag.Total(), "of", len(lag), "topics")
}
GO
(cd go && go mod init finding && go get github.com/twmb/franz-go/pkg/kgo@v1.22.3 github.com/twmb/franz-go/pkg/kadm@v1.20.0 \
  github.com/IBM/sarama@v1.61.1 && go build -o finding .) >go.log 2>&1 || { tail -3 go.log; exit 1; }
cat > member.py <<'PY'
import sys
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
servers = {"bootstrap.servers": sys.argv[1]}
admin, producer = AdminClient(servers), Producer(servers)
[producer.produce("orders", str(number)) for number in range(10)]
producer.flush()
consumer = Consumer({**servers, "group.id": "orders", "group.protocol": "consumer", "auto.offset.reset": "earliest", "enable.auto.commit": False})
consumer.subscribe(["orders"])
print("read", sum(message.error() is None for message in consumer.consume(10, 60)))
consumer.commit(offsets=[TopicPartition("orders", 0, 5)], asynchronous=False)
group = admin.describe_consumer_groups(["orders"])["orders"].result()
print("confluent-kafka:", group.state.name, len(group.members), "members", flush=True)
open("ready", "w").close()
while True:
    consumer.poll(1)
PY
cat > finding.mjs <<'JS'
import { Kafka } from 'kafkajs'
import { Admin } from '@platformatic/kafka'
const [first, second] = [new Kafka({ brokers: [process.argv[2]] }).admin(), new Admin({ clientId: 'a', bootstrapBrokers: [process.argv[2]] })]
const [group] = (await first.describeGroups(['orders'])).groups
console.log('kafkajs:', group.state, group.members.length, 'members, error', group.errorCode)
const described = (await second.describeGroups({ groups: ['orders'] })).get('orders')
console.log('platformatic:', described.state, described.members.size, 'members, groups in the list', (await second.listGroups()).size)
process.exit()
JS
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
env/bin/python member.py "127.0.0.1:$port" >seen 2>log & member=$!
for _ in $(seq 90); do test -e ready && break; sleep 1; done
timeout 60 go/finding "127.0.0.1:$port" >>seen 2>>log && timeout 60 node finding.mjs "127.0.0.1:$port" >>seen 2>>log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { tail -3 log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
read 10
confluent-kafka: STABLE 1 members
sarama: Dead 0 members, error 0
kadm: Dead 0 members, error GROUP_ID_NOT_FOUND: The group id does not exist. lag 0 of 0 topics
kafkajs: Dead 0 members, error 0
platformatic: DEAD 0 members, groups in the list 0
EXPECTED
echo "as described: a group that reads is dead"
