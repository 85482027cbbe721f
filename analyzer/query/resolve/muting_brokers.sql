-- Which brokers mute a connection for the throttle time (2.0 and newer, KIP-219), and which wait before they reply: by the
-- versions of Produce and Fetch that they offer, and by what they answered. A broker of which neither tells has no row.
WITH signs AS (
    SELECT p.broker_address, p.broker_port, e.mutes AS mutes
    FROM part_evidence AS e JOIN parts AS p ON p.part = e.part
    WHERE e.mutes = 1
    UNION ALL
    SELECT
        p.broker_address,
        p.broker_port,
        CASE WHEN (f.api_key = api('Produce') AND f.max_version > 5) OR (f.api_key = api('Fetch') AND f.max_version > 7)
            THEN 1 ELSE 0 END AS mutes
    FROM (SELECT part, body FROM raw_reported GROUP BY part, body) AS t
    JOIN raw_version_facts AS f ON f.body = t.body
    JOIN parts AS p ON p.part = t.part
    WHERE f.api_key < api('ListOffsets')
)
SELECT broker_address, broker_port, max(mutes) = 1 AS mutes
FROM signs
GROUP BY broker_address, broker_port
