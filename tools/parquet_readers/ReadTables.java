// Reads all files of each table with parquet-java: files.json on standard input, the answer of read_tables.py on standard output.
// Every value is read through its ColumnReader, as engines on the JVM do.

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.Map;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

public final class ReadTables {
    public static void main(String[] arguments) throws Exception {
        Told.answer(ReadTables::read);
    }

    private static void read(String path, Map<String, Told> columns) throws Exception {
        try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(Path.of(path)))) {
            MessageType schema = reader.getFooter().getFileMetaData().getSchema();
            String writer = reader.getFooter().getFileMetaData().getCreatedBy();
            PageReadStore group;
            while ((group = reader.readNextRowGroup()) != null) {
                var store = new ColumnReadStoreImpl(
                    group, new GroupRecordConverter(schema).getRootConverter(), schema, writer);
                for (ColumnDescriptor column : schema.getColumns()) {
                    Told told = columns.computeIfAbsent(column.getPath()[0], name -> new Told());
                    told.rows += group.getRowCount();
                    add(store.getColumnReader(column), column, group.getRowCount(), told);
                }
            }
        }
    }

    private static void add(ColumnReader values, ColumnDescriptor column, long rows, Told told) {
        PrimitiveTypeName kind = column.getPrimitiveType().getPrimitiveTypeName();
        var meaning = column.getPrimitiveType().getLogicalTypeAnnotation();
        boolean isNumber = meaning == null || meaning instanceof LogicalTypeAnnotation.IntLogicalTypeAnnotation;
        boolean isInteger = isNumber && (kind == PrimitiveTypeName.INT32 || kind == PrimitiveTypeName.INT64);
        if (isInteger && told.sum == null) {
            told.sum = BigInteger.ZERO;
        }
        for (long row = 0; row < rows; row++) {
            if (values.getCurrentDefinitionLevel() == column.getMaxDefinitionLevel()) {
                told.known++;
                switch (kind) {
                    case INT32 -> told.sum = isInteger ? told.sum.add(BigInteger.valueOf(values.getInteger())) : null;
                    case INT64 -> told.sum = isInteger ? told.sum.add(BigInteger.valueOf(values.getLong())) : null;
                    case BOOLEAN -> values.getBoolean();
                    case DOUBLE -> values.getDouble();
                    case FLOAT -> values.getFloat();
                    default -> values.getBinary();
                }
            }
            values.consume();
        }
    }
}
