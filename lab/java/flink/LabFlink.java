import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job of Flink in one process that copies a topic to another one, until SIGTERM: `BOOTSTRAP GROUP FROM TO [PREFIX]`. */
public class LabFlink {
    public static void main(String[] words) throws Exception {
        var environment = StreamExecutionEnvironment.createLocalEnvironment(2);
        environment.enableCheckpointing(2000);
        var source = KafkaSource.<String>builder()
            .setBootstrapServers(words[0])
            .setGroupId(words[1])
            .setTopics(words[2])
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new SimpleStringSchema());
        if (words.length > 4) {
            source.setClientIdPrefix(words[4]);
        }
        var sink = KafkaSink.<String>builder()
            .setBootstrapServers(words[0])
            .setRecordSerializer(KafkaRecordSerializationSchema.builder()
                .setTopic(words[3])
                .setValueSerializationSchema(new SimpleStringSchema())
                .build());
        environment.fromSource(source.build(), WatermarkStrategy.noWatermarks(), "from " + words[2])
            .sinkTo(sink.build());
        environment.execute(words[1]);
    }
}
