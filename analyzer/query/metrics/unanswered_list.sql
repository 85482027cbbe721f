-- Which messages have no other half, and where are they in the capture? First requests that failed (closed, abandoned), then those that
-- were lost or are open (reply_lost, pending), the longest wait first; replies without a request last. `waited_ns`: from the request's last
-- byte to the end of the connection, or of the capture (pending); null of the others. Packets are numbered as Wireshark does, in the file
-- of `path`. At most 1,000 rows of `total_rows`.
WITH without AS (
    SELECT
        e.*,
        CASE WHEN e.status IN ('closed', 'abandoned') THEN wait_end_ns(c, e) ELSE p.until_ns END
            - coalesce(e.request_end_ns, e.request_time_ns) AS waited_ns,
        CASE WHEN e.status IN ('closed', 'abandoned') THEN 0 WHEN e.status = 'orphan_reply' THEN 2 ELSE 1 END AS place
    FROM exchanges AS e
    LEFT JOIN connections AS c ON c.connection = e.connection
    LEFT JOIN pending_requests AS p ON p.exchange = e.exchange
    WHERE e.status NOT IN ('answered', 'no_reply_expected')
)
SELECT
    w.exchange,
    w.connection,
    w.status,
    coalesce(w.request_time_ns, w.response_time_ns) AS time_ns,
    w.client_id,
    w.client_address,
    w.client_port,
    w.broker_id,
    w.broker_address,
    w.broker_port,
    CASE WHEN w.kind = 'sasl_token' THEN 'SASL token' ELSE w.api_name END AS api_name,
    w.kind,
    w.waited_ns,
    coalesce(w.request_packet, w.response_packet) AS packet,
    f.path,
    count(*) OVER () AS total_rows
FROM without AS w LEFT JOIN captures AS f ON f.file = coalesce(w.request_file, w.response_file)
ORDER BY w.place, w.waited_ns DESC NULLS LAST, time_ns, w.exchange
LIMIT 1000
