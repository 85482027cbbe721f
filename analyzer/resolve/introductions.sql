-- What clients said of themselves, by part: software (KIP-511) and SASL mechanism, the last one told.
SELECT
    part,
    max_by(software_name, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_name,
    max_by(software_version, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_version,
    max_by(mechanism, request_time_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism
FROM raw_exchanges
WHERE software_name IS NOT NULL OR mechanism IS NOT NULL
GROUP BY part
