-- Topics that were created while the capture ran, one row a topic and moment: a CreateTopics request that succeeded, or brokers that
-- tell of the topic for the first time within 10 s after they did not know it.
-- Brokers hear of a new topic one after the other, and elect its leaders then: for some seconds what clients are told differs.
SELECT e.topic, x.response_time_ns AS created_ns
FROM entries AS e JOIN exchanges AS x ON x.exchange = e.exchange
WHERE x.api_key = api('CreateTopics') AND x.status = 'answered' AND x.error_count = 0 AND e.topic IS NOT NULL
    AND x.response_time_ns IS NOT NULL
GROUP BY e.topic, x.response_time_ns
UNION
SELECT t.topic, min(t.first_time_ns) AS created_ns
FROM topic_ids AS t
JOIN errors AS e ON e.topic = t.topic AND e.code = error('UNKNOWN_TOPIC_OR_PARTITION')
JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE t.first_time_ns BETWEEN x.response_time_ns AND x.response_time_ns + s(10)
GROUP BY t.topic
