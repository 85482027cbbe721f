-- Nodes that earlier captures of a dataset that grows named (`known_nodes`): of other captures none.
SELECT
    CAST(NULL AS STRING) AS cluster,
    CAST(NULL AS BIGINT) AS broker_id,
    CAST(NULL AS STRING) AS host,
    CAST(NULL AS BIGINT) AS port,
    CAST(NULL AS INTEGER) AS is_listed
WHERE false
