-- Fetches of the metadata log, whose topic has a fixed id (KIP-595).
SELECT exchange
FROM raw_entries
WHERE topic = '__cluster_metadata' OR topic_id = 'AAAAAAAAAAAAAAAAAAAAAQ'
GROUP BY exchange
