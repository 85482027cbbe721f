-- When each client last began a request whose answer says that an earlier error was normal (`followed` in expected_errors), by
-- broker: one that succeeded (`last_ns`), one whose answer is not known (`unsure_ns`).
SELECT
    l.client_address, a.client_id, l.broker_address, l.broker_port, a.api_key, max(a.last_ns) AS last_ns,
    max(a.unsure_ns) AS unsure_ns
FROM last_answers AS a JOIN connection_context AS l ON l.part = a.part
GROUP BY l.client_address, a.client_id, l.broker_address, l.broker_port, a.api_key
