-- What framing tells of each part, with the side that is the client. Where content and handshake do not tell, the broker is the side
-- whose endpoint served others, then the one with more connections, then the one with a port below those that clients are given
-- (32768 on Linux); else side a counts as the client.
WITH undecided AS (
    SELECT p.part, p.a_address, p.a_port, p.b_address, p.b_port
    FROM raw_parts AS p JOIN raw_framed_parts AS t ON t.part = p.part
    WHERE t.client_side IS NULL AND p.syn % 2 = 0
),
wanted AS (
    SELECT a_address AS address, a_port AS port FROM undecided
    UNION
    SELECT b_address AS address, b_port AS port FROM undecided
),
endpoints AS (
    SELECT address, port, max(served) AS served, count(*) AS parts
    FROM (
        SELECT w.address, w.port, CASE WHEN t.client_side = 1 THEN 1 ELSE 0 END AS served
        FROM wanted AS w
        JOIN raw_parts AS p ON p.a_address = w.address AND p.a_port = w.port
        JOIN raw_framed_parts AS t ON t.part = p.part
        UNION ALL
        SELECT
            w.address, w.port,
            CASE WHEN coalesce(t.client_side, CASE WHEN p.syn % 2 = 1 THEN 0 END) = 0 THEN 1 ELSE 0 END AS served
        FROM wanted AS w
        JOIN raw_parts AS p ON p.b_address = w.address AND p.b_port = w.port
        JOIN raw_framed_parts AS t ON t.part = p.part
    ) AS x
    GROUP BY address, port
),
sides AS (
    SELECT
        p.part,
        CASE
            WHEN a.served <> b.served THEN a.served
            WHEN a.parts <> b.parts THEN CASE WHEN a.parts > b.parts THEN 1 ELSE 0 END
            WHEN p.a_port < 32768 AND p.b_port >= 32768 THEN 1
            ELSE 0
        END AS client_side
    FROM undecided AS p
    JOIN endpoints AS a ON a.address = p.a_address AND a.port = p.a_port
    JOIN endpoints AS b ON b.address = p.b_address AND b.port = p.b_port
)
SELECT t.* REPLACE (coalesce(t.client_side, g.client_side) AS client_side)
FROM raw_framed_parts AS t LEFT JOIN sides AS g ON g.part = t.part
