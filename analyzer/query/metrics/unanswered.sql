-- Which requests have no reply, by API, and how long did the longest wait? Waits end with the capture (pending) or with the
-- connection (closed, abandoned), in ns from the request's last byte. The row without an API counts replies alone.
SELECT
    CASE WHEN e.kind = 'sasl_token' THEN 'SASL token' ELSE e.api_name END AS api_name,
    count(*) FILTER (WHERE e.status = 'pending') AS pending,
    count(*) FILTER (WHERE e.status = 'closed') AS closed,
    count(*) FILTER (WHERE e.status = 'abandoned') AS abandoned,
    count(*) FILTER (WHERE e.status IN ('closed', 'abandoned')) AS lost,
    count(*) FILTER (WHERE e.status = 'reply_lost') AS reply_lost,
    count(*) FILTER (WHERE e.status = 'orphan_reply') AS orphan_replies,
    max(r.last_time_ns - coalesce(e.request_end_ns, e.request_time_ns))
        FILTER (WHERE e.status = 'pending') AS longest_pending_ns,
    max(c.last_time_ns - coalesce(e.request_end_ns, e.request_time_ns))
        FILTER (WHERE e.status IN ('closed', 'abandoned')) AS longest_closed_ns,
    max_by(e.exchange, c.last_time_ns - coalesce(e.request_end_ns, e.request_time_ns))
        FILTER (WHERE e.status IN ('closed', 'abandoned')) AS example_exchange
FROM exchanges AS e
    LEFT JOIN connections AS c ON c.connection = e.connection
    CROSS JOIN time_range AS r
WHERE e.status NOT IN ('answered', 'no_reply_expected')
GROUP BY CASE WHEN e.kind = 'sasl_token' THEN 'SASL token' ELSE e.api_name END
ORDER BY closed + abandoned DESC, pending DESC, api_name
