// Reads all files of each table with the Parquet reader of Trino, which is its own: files.json on standard input, the answer of
// read_tables.py on standard output. The types are those that a table of Trino over these files has.

import static io.trino.memory.context.AggregatedMemoryContext.newSimpleAggregatedMemoryContext;

import io.trino.parquet.AbstractParquetDataSource;
import io.trino.parquet.Column;
import io.trino.parquet.ParquetDataSourceId;
import io.trino.parquet.ParquetReaderOptions;
import io.trino.parquet.ParquetTypeUtils;
import io.trino.parquet.metadata.PrunedBlockMetadata;
import io.trino.parquet.reader.MetadataReader;
import io.trino.parquet.reader.ParquetReader;
import io.trino.parquet.reader.RowGroupInfo;
import io.trino.spi.block.Block;
import io.trino.spi.type.BigintType;
import io.trino.spi.type.BooleanType;
import io.trino.spi.type.DecimalType;
import io.trino.spi.type.DoubleType;
import io.trino.spi.type.IntegerType;
import io.trino.spi.type.TimestampWithTimeZoneType;
import io.trino.spi.type.Type;
import io.trino.spi.type.VarcharType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.joda.time.DateTimeZone;

public final class ReadTablesByTrino {
    private static final ParquetReaderOptions OPTIONS = ParquetReaderOptions.defaultOptions();

    private static final class LocalFile extends AbstractParquetDataSource {
        private final RandomAccessFile file;

        LocalFile(String path) throws IOException {
            this(path, new RandomAccessFile(path, "r"));
        }

        private LocalFile(String path, RandomAccessFile file) throws IOException {
            super(new ParquetDataSourceId(path), file.length(), OPTIONS);
            this.file = file;
        }

        @Override
        protected void readInternal(long position, byte[] buffer, int offset, int length) throws IOException {
            file.seek(position);
            file.readFully(buffer, offset, length);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Told.answer(ReadTablesByTrino::read);
    }

    private static void read(String path, Map<String, Told> columns) throws Exception {
        var source = new LocalFile(path);
        var footer = MetadataReader.readFooter(source, Optional.empty());
        var schema = footer.getFileMetaData().getSchema();
        var descriptors = ParquetTypeUtils.getDescriptors(schema, schema);
        List<Column> wanted = new ArrayList<>();
        List<Type> types = new ArrayList<>();
        for (org.apache.parquet.schema.Type field : schema.getFields()) {
            Type type = typeOf(field.asPrimitiveType());
            var inFile = ParquetTypeUtils.lookupColumnByName(ParquetTypeUtils.getColumnIO(schema, schema), field.getName());
            wanted.add(new Column(field.getName(), ParquetTypeUtils.constructField(type, inFile).orElseThrow()));
            types.add(type);
        }
        List<RowGroupInfo> groups = new ArrayList<>();
        long rows = 0;
        for (var block : footer.getBlocks()) {
            var pruned = PrunedBlockMetadata.createPrunedColumnsMetadata(block, source.getId(), descriptors);
            groups.add(new RowGroupInfo(pruned, rows, Optional.empty()));
            rows += pruned.getRowCount();
        }
        String writer = footer.getFileMetaData().getCreatedBy();
        try (var reader = new ParquetReader(
                Optional.ofNullable(writer), wanted, false, groups, source, DateTimeZone.UTC,
                newSimpleAggregatedMemoryContext(), OPTIONS, RuntimeException::new, Optional.empty(), Optional.empty(),
                Optional.empty())) {
            for (var page = reader.nextPage(); page != null; page = reader.nextPage()) {
                for (int channel = 0; channel < wanted.size(); channel++) {
                    Told told = columns.computeIfAbsent(wanted.get(channel).name(), name -> new Told());
                    add(page.getBlock(channel), types.get(channel), page.getPositionCount(), told);
                }
            }
        }
    }

    private static void add(Block values, Type type, int rows, Told told) {
        boolean isInteger = type == BigintType.BIGINT || type == IntegerType.INTEGER;
        if (isInteger && told.sum == null) {
            told.sum = BigInteger.ZERO;
        }
        told.rows += rows;
        for (int row = 0; row < rows; row++) {
            if (!values.isNull(row)) {
                told.known++;
                if (type == BigintType.BIGINT) {
                    told.sum = told.sum.add(BigInteger.valueOf(BigintType.BIGINT.getLong(values, row)));
                } else if (type == IntegerType.INTEGER) {
                    told.sum = told.sum.add(BigInteger.valueOf(IntegerType.INTEGER.getInt(values, row)));
                }
            }
        }
    }

    private static Type typeOf(PrimitiveType column) {
        return switch (column.getPrimitiveTypeName()) {
            case BOOLEAN -> BooleanType.BOOLEAN;
            case INT32 -> IntegerType.INTEGER;
            case INT64 -> column.getLogicalTypeAnnotation() instanceof TimestampLogicalTypeAnnotation
                ? TimestampWithTimeZoneType.TIMESTAMP_TZ_MICROS : BigintType.BIGINT;
            case DOUBLE -> DoubleType.DOUBLE;
            case FIXED_LEN_BYTE_ARRAY -> {
                var decimal = (DecimalLogicalTypeAnnotation) column.getLogicalTypeAnnotation();
                yield DecimalType.createDecimalType(decimal.getPrecision(), decimal.getScale());
            }
            case INT96, FLOAT -> throw new IllegalArgumentException(column.toString());
            default -> VarcharType.VARCHAR;
        };
    }
}
