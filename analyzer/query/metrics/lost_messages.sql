-- How many messages could not be read? One row: `lost_messages` are requests or replies whose other half fell into a gap, of `exchanges`;
-- `cut_bodies` are message bodies that were captured in part, of `bodies`. Replies without a request count where a client's bytes
-- are missing: others were asked for before the capture began.
SELECT
    count(*) AS exchanges,
    count(*) FILTER (WHERE c.one_way IS NULL AND (e.status = 'reply_lost' OR (e.status = 'orphan_reply' AND c.client_gaps > 0)))
        AS lost_messages,
    count(*) FILTER (WHERE e.request_decoded <> 'none') + count(*) FILTER (WHERE e.response_decoded <> 'none') AS bodies,
    count(*) FILTER (WHERE e.request_decoded = 'truncated') + count(*) FILTER (WHERE e.response_decoded = 'truncated')
        AS cut_bodies
FROM exchanges AS e LEFT JOIN (
    SELECT connection, one_way, client_gaps FROM connections WHERE one_way IS NOT NULL OR client_gaps > 0
) AS c ON c.connection = e.connection
