-- The same where every split is a whole file, numbered like it: no join, which every question would pay for.
SELECT
    *,
    CAST(request_split AS INTEGER) AS request_file,
    request_number AS request_packet,
    CAST(response_split AS INTEGER) AS response_file,
    response_number AS response_packet
FROM raw_exchanges
