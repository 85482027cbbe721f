-- Batches that were produced, one row each, with who sent them and when: a run on this machine makes them once. `offsets`: how many
-- offsets a batch takes.
SELECT
    b.exchange,
    b.connection,
    x.client_id,
    x.request_time_ns,
    coalesce(b.topic, b.topic_id) AS topic,
    b.partition,
    b.codec = 'none' AS is_plain,
    b.records,
    b.bytes,
    CASE WHEN b.magic = 2 THEN b.last_offset - b.base_offset + 1 ELSE b.records END AS offsets,
    b.producer_id,
    b.producer_epoch,
    b.base_sequence
FROM batches AS b
JOIN exchanges AS x ON x.exchange = b.exchange
WHERE b.side = 'request' AND x.api_key = api('Produce')
