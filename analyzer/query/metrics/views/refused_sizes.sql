-- Produce requests that a broker refused for the size of what they carry: one row a request, with the smallest of its partitions that
-- were refused, each by its largest batch. The limit (max.message.bytes of the topic) is for a batch, as it is sent, compressed.
SELECT exchange, min(bytes) AS bytes
FROM (
    SELECT e.exchange, max(b.bytes) AS bytes
    FROM errors AS e JOIN batches AS b ON b.exchange = e.exchange AND b.partition = e.partition
    WHERE e.code IN (error('MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) AND b.side = 'request'
        AND coalesce(b.topic, b.topic_id) = coalesce(e.topic, e.topic_id)
    GROUP BY e.exchange, e.partition, e.topic, e.topic_id
) AS refused
GROUP BY exchange
