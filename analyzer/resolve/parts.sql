-- Parts with their verdict. A connection is Kafka when a reply matched a request, a request header stood exactly where the
-- frame before it ended, or a request was decoded to its last byte; it is not when its bytes were something else.
SELECT
    *,
    CASE
        WHEN matched > 0 OR chained > 0 OR whole_requests > 0 THEN true
        WHEN protocol IN ('tls', 'other') THEN false
    END AS is_kafka
FROM raw_parts
