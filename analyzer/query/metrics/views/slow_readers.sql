-- Which clients take long to read replies? One row per client and connection: `times` replies took a second and more
-- to arrive while its receive window was full, `receive_ns` at most.
SELECT
    who(x) AS who,
    x.connection,
    count(*) AS times,
    max(x.receive_ns) AS receive_ns,
    max(x.receive_ns) AS weight,
    max_by(x.exchange, (x.receive_ns, x.exchange)) AS evidence_worst,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_end_ns) AS last_time_ns
FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
WHERE x.receive_ns >= s(1) AND c.client_zero_windows > 0
GROUP BY who(x), x.connection
