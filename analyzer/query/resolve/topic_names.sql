-- Names of topic ids, from every message that told both. An id is unique over all clusters and never named anew.
SELECT topic_id, max(topic) AS topic
FROM raw_topic_facts
GROUP BY topic_id
