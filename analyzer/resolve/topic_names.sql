-- Names of topic ids, where an entry told both (Metadata replies do). An id is unique over all clusters and never named anew.
SELECT topic_id, max(topic) AS topic
FROM raw_entries
WHERE topic_id IS NOT NULL AND topic IS NOT NULL
GROUP BY topic_id
