-- severity: info
-- rank: 12
-- when: written_sums having sum(batches) FILTER (WHERE is_plain) >= 30
-- says: {who} produces to topic {topic} without compression: {written_bytes} at {written_bytes_per_s}
-- do: Set compression.type=zstd or lz4 on this producer: it saves network and disk on brokers and consumers.
-- look: kanalyze topics[ --topic {topic}]
-- delays: nobody
SELECT * FROM plain_writes
