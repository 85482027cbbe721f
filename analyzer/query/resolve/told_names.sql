-- Names of topic ids, from all messages with both. A topic id is unique over all clusters and never gets another name.
SELECT topic_id, max(topic) AS topic
FROM raw_topic_facts
GROUP BY topic_id
