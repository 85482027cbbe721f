-- What the requests and replies of a part prove, over all runs that saw some of them (`part_signs`).
SELECT
    part,
    max(speaker) AS speaker,
    max(mutes) AS mutes,
    max(throttled) AS throttled,
    max(numbered) AS numbered,
    CAST(sum(bad_requests) AS BIGINT) AS bad_requests,
    CAST(sum(read_requests) AS BIGINT) AS read_requests,
    CAST(sum(bad_replies) AS BIGINT) AS bad_replies,
    CAST(sum(read_replies) AS BIGINT) AS read_replies,
    min(first_ns) AS first_ns,
    max(last_ns) AS last_ns,
    max_by(software_name, software_ns) FILTER (WHERE software_name IS NOT NULL) AS software_name,
    max_by(software_version, software_ns) FILTER (WHERE software_name IS NOT NULL) AS software_version,
    max_by(mechanism, mechanism_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism,
    CASE WHEN min(least_rack) = max(most_rack) THEN min(least_rack) END AS client_rack
FROM part_signs
GROUP BY part
