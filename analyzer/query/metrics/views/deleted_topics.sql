-- Topics that somebody had deleted while the capture ran: one row per request and topic, by its name or its id, or both.
SELECT c.cluster, e.topic, e.topic_id, who(x) AS deleted_by, x.response_time_ns AS time_ns
FROM exchanges AS x
JOIN entries AS e ON e.exchange = x.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE x.api_key = api('DeleteTopics') AND is_client(x.role) AND e.side = 'response' AND no_error(e.error_code)
    AND x.response_time_ns IS NOT NULL
