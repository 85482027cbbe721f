#!/usr/bin/env bash
# A foreign-key join of Kafka Streams 4.4.0 goes back in time: its newest result has the older side's time, and a versioned
#   table of the results keeps the result before it.
#
# Expected: the result of a join of two tables carries the larger of the two times, as Kafka's documentation says of joins and
#   the join by primary key does. So the times of one key's results do not go back while both tables' times go forward.
# Seen: the result of a foreign-key join has the time of the record that came last. An order at 20 whose customer of second 12 is
#   read later gives a result at 12, after one at 20; by primary key it is at 20. A plain table of the results ends with the newest,
#   a versioned one with what it had: the newest is history to it. An order whose customer was read late is without one for ever.
# Why it matters: two topics are never read in step, least of all at a first start. Windows, versioned tables, retention and all
#   that sorts by the record's time take the newest result for an old one, without an error and without a dropped record.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-streams-test-utils</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import java.time.*; import java.util.*; import java.util.function.*;
import org.apache.kafka.common.serialization.*; import org.apache.kafka.streams.*; import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

public class Finding {
    static final ValueJoiner<String, String, String> BOTH = (order, customer) -> order + "+" + customer;

    /** The results' topic read again, as a plain table and as a versioned one. */
    static void join(String name, boolean foreign, String... records) {
        run(name, builder -> {
            KTable<String, String> orders = builder.table("orders"), customers = builder.table("customers");
            (foreign ? orders.leftJoin(customers, order -> "anna", BOTH) : orders.leftJoin(customers, BOTH)).toStream().to("out");
            var results = builder.<String, String>stream("out");
            results.toTable(Materialized.as(Stores.inMemoryKeyValueStore("plain")));
            results.toTable(Materialized.as(Stores.persistentVersionedKeyValueStore("versioned", Duration.ofHours(1))));
        }, driver -> "plain table " + driver.getKeyValueStore("plain").get(foreign ? "order-1" : "anna") + ", versioned "
            + driver.getVersionedKeyValueStore("versioned").get(foreign ? "order-1" : "anna").value(), records);
    }

    public static void main(String[] args) {
        join("foreign key", true, "orders order-1 tea 20", "customers anna Anna 12");
        join("foreign key, both change", true, "customers anna Ann 10", "orders order-1 tea 20", "customers anna Anna 12");
        join("primary key", false, "orders anna tea 20", "customers anna Anna 12");
    }

    static void run(String name, Consumer<StreamsBuilder> build, Function<TopologyTestDriver, String> after, String... records) {
        var builder = new StreamsBuilder();
        build.accept(builder);
        var settings = new Properties();
        settings.putAll(Map.of("application.id", "finding", "bootstrap.servers", "127.0.0.1:1", "state.dir", "state",  // no broker
            "default.key.serde", Serdes.StringSerde.class, "default.value.serde", Serdes.StringSerde.class));
        var seen = new ArrayList<String>();
        try (var driver = new TopologyTestDriver(builder.build(settings), settings, Instant.EPOCH)) {
            var out = driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
            for (String record : records) {
                String[] part = record.split(" ");  // topic, key, value, second
                driver.createInputTopic(part[0], new StringSerializer(), new StringSerializer())
                    .pipeInput(part[1], part[2].equals("null") ? null : part[2], Instant.ofEpochSecond(Long.parseLong(part[3])));
            }
            for (var result : out.readRecordsToList()) seen.add(result.value() + " at " + result.timestamp() / 1000);
            System.out.println(name + ": " + String.join(", ", seen) + "; " + after.apply(driver));
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka Streams 4.4.0 did when this was written"; exit 1; }
foreign key: tea+null at 20, tea+Anna at 12; plain table tea+Anna, versioned tea+null
foreign key, both change: tea+Ann at 20, tea+Anna at 12; plain table tea+Anna, versioned tea+Ann
primary key: tea+null at 20, tea+Anna at 20; plain table tea+Anna, versioned tea+Anna
EXPECTED
echo "as described: the newest result has an older time"
