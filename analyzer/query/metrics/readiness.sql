-- Will these clients work with that release? The rows of the view readiness_verdicts, the worst first.
SELECT *
FROM readiness_verdicts
ORDER BY
    release,
    CASE verdict
        WHEN 'already_failing' THEN 1 WHEN 'breaks' THEN 2 WHEN 'undetermined' THEN 3 WHEN 'unknown' THEN 4
        WHEN 'upgrade_note' THEN 5 ELSE 6
    END,
    client_id, client_address, principal, api_key, api_version, cluster
