// What the programs in Java say: files.json on standard input, the answer of read_tables.py on standard output.

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Of a column: rows, values that are not null, and their sum where they are integers. */
final class Told {
    long rows;
    long known;
    BigInteger sum;

    /** Adds what a file holds to the columns. */
    interface Reader {
        void read(String path, Map<String, Told> columns) throws Exception;
    }

    static void answer(Reader reader) throws Exception {
        String files = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        StringJoiner tables = new StringJoiner(", ", "{", "}");
        Matcher table = Pattern.compile("\"([^\"]+)\": \\[([^\\]]*)\\]").matcher(files);
        while (table.find()) {
            Map<String, Told> columns = new LinkedHashMap<>();
            Matcher path = Pattern.compile("\"([^\"]+)\"").matcher(table.group(2));
            while (path.find()) {
                reader.read(path.group(1), columns);
            }
            StringJoiner told = new StringJoiner(", ", "{", "}");
            columns.forEach((name, of) -> told.add(
                String.format("\"%s\": [%d, %d, %s]", name, of.rows, of.known, of.sum)));
            tables.add("\"" + table.group(1) + "\": " + told);
        }
        System.out.println(tables);
    }
}
