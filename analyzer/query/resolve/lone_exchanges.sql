-- Exchanges of logs of requests without a capture: from when the request was there until the reply left, a request was in the broker.
SELECT
    x.* REPLACE (
        x.latency_ns AS broker_min_ns,
        x.latency_ns AS broker_max_ns,
        x.latency_ns AS broker_ns,
        CASE WHEN x.latency_ns IS NOT NULL THEN 'log' END AS broker_evidence
    )
FROM exchanges_with_logs AS x
