-- severity: info
-- rank: 12
-- when: batches having count(*) FILTER (WHERE side = 'request' AND codec = 'none') >= 30
-- says: {who} produces to topic {topic} without compression: {written_bytes} at {written_bytes_per_s}
-- do: Set compression.type=zstd or lz4 on this producer: it saves network and disk on brokers and consumers.
-- look: kanalyze topics[ --topic {topic}]
-- delays: nobody
SELECT * FROM plain_writes
