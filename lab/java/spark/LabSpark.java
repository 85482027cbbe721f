import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/** A streaming query of Spark in one process that copies a topic to another one, until SIGTERM: `BOOTSTRAP FROM TO FOLDER`. */
public class LabSpark {
    public static void main(String[] words) throws Exception {
        var spark = SparkSession.builder()
            .master("local[2]")
            .appName("copy of " + words[1])
            .config("spark.ui.enabled", "false")
            .config("spark.local.dir", words[3])
            .config("spark.sql.warehouse.dir", words[3])
            .getOrCreate();
        spark.readStream()
            .format("kafka")
            .option("kafka.bootstrap.servers", words[0])
            .option("subscribe", words[1])
            .option("startingOffsets", "earliest")
            .load()
            .selectExpr("value")
            .writeStream()
            .format("kafka")
            .option("kafka.bootstrap.servers", words[0])
            .option("topic", words[2])
            .option("checkpointLocation", words[3] + "/checkpoints")
            .trigger(Trigger.ProcessingTime("1 second"))
            .start()
            .awaitTermination();
    }
}
