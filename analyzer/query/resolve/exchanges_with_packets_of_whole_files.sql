-- `exchanges_with_packets` of a run whose splits are whole files with the same numbers: without joins, which slow every question.
SELECT
    *,
    CAST(request_split AS INTEGER) AS request_file,
    request_number AS request_packet,
    CAST(response_split AS INTEGER) AS response_file,
    response_number AS response_packet
FROM raw_exchanges
