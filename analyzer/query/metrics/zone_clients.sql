-- Whose bytes cross zones? One row per client, with the group that it names if that is one: bytes of IP packets on the wire of its
-- connections (one that several clients share is in the row of the client with the most requests), within its zone, across zones,
-- and unknown. `cost` is that of what crosses, by the price of a GB (--price). At most 1,000 rows of `total_rows`.
SELECT
    z.*,
    (z.sent_across_bytes + z.received_across_bytes) * s.price / 1e9 AS cost,
    count(*) OVER () AS total_rows
FROM zoned_clients AS z CROSS JOIN settings AS s
ORDER BY
    z.sent_across_bytes + z.received_across_bytes DESC, z.unknown_bytes DESC, z.within_bytes DESC, z.client_id, z.client_address
LIMIT 1000
