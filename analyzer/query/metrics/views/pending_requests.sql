-- Which requests had no reply yet when the capture ended, and until when (`until_ns`) could one have been seen? One row per request. Where
-- its connection goes on in a later file, that one could have shown the reply too.
SELECT x.exchange, least(greatest(u.until_ns, c.last_time_ns), r.last_time_ns) AS until_ns
FROM exchanges AS x
LEFT JOIN captured_until AS u ON u.file = x.request_file
LEFT JOIN connections AS c ON c.connection = x.connection
CROSS JOIN time_range AS r
WHERE x.status = 'pending'
