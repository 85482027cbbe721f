#!/usr/bin/env bash
# Results that Kafka Streams 4.4.0 holds back come out with the headers of whichever record made it emit them, another key's.
#
# Expected: the result of a left join that found no partner carries the headers of the record that it was made of, traceparent
#   among them, as it carries that record's key and time. So does a window's final count.
# Seen: both are emitted when a later record of any key moves time on, and they carry that record's headers: key "order-1" of
#   trace A leaves with trace B of "order-2". suppress(untilWindowCloses), which means the same as EmitStrategy.onWindowClose,
#   keeps the headers of the window's own last record. dsl.store.format=headers, which keeps headers in stores, changes nothing
#   here. Joins that find a partner carry the second record's headers only.
# Why it matters: the missing partner is what one looks for in a trace, and the trace shows it under another customer's
#   order. Headers for routing, tenants or de-duplication go with the wrong key too, and tests with one key do not see it.
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
import java.time.Duration;
import java.time.Instant;
import java.util.Properties;
import java.util.function.BiConsumer;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.test.TestRecord;

public class Finding {
    static final Duration TEN = Duration.ofSeconds(10);
    static final TimeWindows WINDOWS = TimeWindows.ofSizeWithNoGrace(TEN);
    static final Materialized<String, Long, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>>
        COUNTS = Materialized.with(Serdes.String(), Serdes.Long());

    public static void main(String[] args) {
        for (String format : new String[] {"default", "headers"}) {
            run(format, "left join", (orders, payments) -> orders
                .leftJoin(payments, (order, payment) -> order + " and " + payment, JoinWindows.ofTimeDifferenceWithNoGrace(TEN)).to("out"));
            run(format, "onWindowClose", (orders, payments) -> orders.groupByKey().windowedBy(WINDOWS)
                .emitStrategy(EmitStrategy.onWindowClose()).count(COUNTS).toStream((window, count) -> window.key()).mapValues(String::valueOf).to("out"));
            run(format, "suppress", (orders, payments) -> orders.groupByKey().windowedBy(WINDOWS).count(COUNTS)
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())).toStream((window, count) -> window.key()).mapValues(String::valueOf).to("out"));
        }
    }

    static void run(String format, String name, BiConsumer<KStream<String, String>, KStream<String, String>> build) {
        var builder = new StreamsBuilder();
        build.accept(builder.stream("orders"), builder.stream("payments"));
        var settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:1");  // the driver needs no broker
        settings.put(StreamsConfig.STATE_DIR_CONFIG, "state");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put("dsl.store.format", format);
        try (var driver = new TopologyTestDriver(builder.build(settings), settings, Instant.EPOCH)) {
            var orders = driver.createInputTopic("orders", new StringSerializer(), new StringSerializer());
            var out = driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
            orders.pipeInput(order("order-1", "A", 1_000));
            orders.pipeInput(order("order-2", "B", 60_000));
            var result = out.readRecord();
            System.out.println(format + ", " + name + ": " + result.key() + " = " + result.value() + ", time " + result.timestamp()
                + ", trace " + new String(result.headers().lastHeader("traceparent").value()));
        }
    }

    static TestRecord<String, String> order(String key, String trace, long time) {
        return new TestRecord<>(key, "order", new RecordHeaders().add("traceparent", trace.getBytes()), time);
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka Streams 4.4.0 did when this was written"; exit 1; }
default, left join: order-1 = order and null, time 1000, trace B
default, onWindowClose: order-1 = 1, time 1000, trace B
default, suppress: order-1 = 1, time 1000, trace A
headers, left join: order-1 = order and null, time 1000, trace B
headers, onWindowClose: order-1 = 1, time 1000, trace B
headers, suppress: order-1 = 1, time 1000, trace A
EXPECTED
echo "as described: results that were held back have the headers of another key"
