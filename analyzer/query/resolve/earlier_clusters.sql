-- Which cluster an address belongs to, as earlier captures of a dataset that grows told (`known_clusters`): of other captures none.
SELECT CAST(NULL AS STRING) AS address, CAST(NULL AS BIGINT) AS port, CAST(NULL AS STRING) AS cluster, CAST(NULL AS STRING) AS told_by
WHERE false
