import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A producer or consumer by Apache's own client, until SIGTERM: `produce|consume TOPIC NUMBER NAME=VALUE ...`.
 *
 * NUMBER: records a second for a producer, ms for each record for a consumer.
 */
public class LabClient {
    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        for (int i = 3; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        if (words[0].equals("produce")) {
            produce(words[1], Double.parseDouble(words[2]), settings);
        } else {
            consume(words[1], Long.parseLong(words[2]), settings);
        }
    }

    private static void produce(String topic, double perSecond, Properties settings) throws Exception {
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> producer.close(Duration.ofSeconds(5))));
        for (long number = 0; ; number++) {
            producer.send(new ProducerRecord<>(topic, "{\"id\": " + number + ", \"note\": \"all is well\"}"));
            Thread.sleep((long) (1000 / perSecond));
        }
    }

    private static void consume(String topic, long eachMs, Properties settings) throws Exception {
        KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            main.interrupt();
            try {
                main.join(5000);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }));
        consumer.subscribe(List.of(topic.split(",")));
        try {
            while (true) {
                ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
                for (int i = 0; i < records.count(); i++) {
                    Thread.sleep(eachMs);
                }
            }
        } catch (WakeupException | InterruptedException | org.apache.kafka.common.errors.InterruptException stopped) {
            Thread.interrupted();
        }
        consumer.close(Duration.ofSeconds(4));
    }
}
