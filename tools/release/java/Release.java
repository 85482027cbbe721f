import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Iterator;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.RawTaggedField;

/**
 * What a release of kafka-clients says itself. `facts`: its keys, error codes and header versions as one JSON object.
 * `encode`: each line of standard input is a message as JSON; standard output has the bytes that the release makes of it,
 * and what its own converter makes of the message.
 */
public class Release {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        JSON.configure(com.fasterxml.jackson.core.JsonGenerator.Feature.ESCAPE_NON_ASCII, true);
        if (arguments[0].equals("facts")) {
            out.println(JSON.writeValueAsString(facts()));
        } else {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                out.println(JSON.writeValueAsString(encoded((ObjectNode) JSON.readTree(line))));
            }
        }
        out.flush();
    }

    private static ObjectNode facts() {
        ObjectNode facts = JSON.createObjectNode();
        ArrayNode keys = facts.putArray("keys");
        for (ApiKeys key : ApiKeys.values()) {
            ApiMessageType type = key.messageType;
            short first = type.lowestSupportedVersion();
            short last = type.highestSupportedVersion(true);
            if (first > last) {
                continue; // removed
            }
            ObjectNode row = keys.addObject();
            row.put("key", key.id).put("name", key.name).put("first", first).put("last", last);
            row.put("unstable", type.highestSupportedVersion(false) < last);
            ArrayNode headers = row.putArray("headers");
            for (short version = first; version <= last; version++) {
                headers.addArray().add(type.requestHeaderVersion(version)).add(type.responseHeaderVersion(version));
            }
        }
        ArrayNode errors = facts.putArray("errors");
        for (Errors error : Errors.values()) {
            Exception exception = error.exception();
            ObjectNode row = errors.addObject();
            row.put("code", error.code()).put("name", error.name());
            row.put("retriable", exception instanceof RetriableException);
            row.put("exception", exception == null ? "-" : exception.getClass().getSimpleName());
        }
        return facts;
    }

    private static ObjectNode encoded(ObjectNode row) throws Exception {
        boolean isRequest = row.get("direction").asText().equals("request");
        ApiMessageType type = ApiMessageType.fromApiKey((short) row.get("api_key").asInt());
        short version = (short) row.get("version").asInt();
        Message message = isRequest ? type.newRequest() : type.newResponse();
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        message = (Message) converter.getMethod("read", JsonNode.class, short.class).invoke(null, row.get("body"), version);
        for (JsonNode tag : row.withArray("unknown_tags")) {
            add(at(message, tag.get("path").asText()), tag);
        }
        short headerVersion = isRequest ? type.requestHeaderVersion(version) : type.responseHeaderVersion(version);
        Message header = isRequest
            ? new RequestHeaderData().setRequestApiKey(type.apiKey()).setRequestApiVersion(version)
                .setCorrelationId(row.get("correlation_id").asInt())
                .setClientId(row.get("client_id").isNull() ? null : row.get("client_id").asText())
            : new ResponseHeaderData().setCorrelationId(row.get("correlation_id").asInt());
        for (JsonNode tag : row.withArray("header_unknown_tags")) {
            add(header, tag);
        }
        byte[] front = bytes(header, headerVersion);
        row.put("header_version", headerVersion).put("body_offset", front.length);
        row.put("hex", HexFormat.of().formatHex(front) + HexFormat.of().formatHex(bytes(message, version)));
        row.set("body", (JsonNode) converter.getMethod("write", message.getClass(), short.class, boolean.class)
            .invoke(null, message, version, false));
        return row;
    }

    private static void add(Message message, JsonNode tag) {
        byte[] data = HexFormat.of().parseHex(tag.get("hex").asText());
        message.unknownTaggedFields().add(new RawTaggedField(tag.get("tag").asInt(), data));
    }

    /** The struct at a path like `topics[0].partitions[1]`; the message itself where the path is empty. */
    private static Message at(Message message, String path) throws Exception {
        Object found = message;
        for (String step : path.isEmpty() ? new String[0] : path.split("[.]")) {
            String[] parts = step.split("[\\[\\]]");
            found = found.getClass().getMethod(parts[0]).invoke(found);
            if (parts.length > 1) {
                Iterator<?> elements = ((Iterable<?>) found).iterator();
                for (int left = Integer.parseInt(parts[1]); left > 0; left--) {
                    elements.next();
                }
                found = elements.next();
            }
        }
        return (Message) found;
    }

    private static byte[] bytes(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }
}
