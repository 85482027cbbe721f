-- severity: high
-- rank: 30
-- when: errors having bool_or(code IN (29, 30, 31))
-- says: {who}[ (user {principal})] is not authorized for {api_name}[ on {entity}]: {name}, {times|time|times}
-- do: Grant this user the missing ACL (kafka-acls.sh --add), or find out why this client sends the request.
-- look: kanalyze errors[ --client {who}] --api {api_name}
-- explains: metadata_storm, commit_failures
-- High when a client that wants to move records or join a group was denied three times; a single denied call of an administrator is
-- for information.
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    max(x.principal) AS principal,
    x.api_name,
    coalesce(e.name, CAST(e.code AS STRING)) AS name,
    coalesce(max(e.topic), max(x.group_id), max(e.entity)) AS entity,
    count(*) AS times,
    count(*) AS weight,
    CASE
        WHEN x.api_key IN (0, 1, 3, 8, 10, 11, 22, 24, 26, 68, 76, 78) AND count(*) >= 3 THEN 'high'
        WHEN x.api_key IN (0, 1, 3, 8, 10, 11, 22, 24, 26, 68, 76, 78) OR count(*) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.code IN (29, 30, 31) AND x.api_key <> 58
GROUP BY coalesce(x.client_id, x.client_address), x.api_key, x.api_name, coalesce(e.name, CAST(e.code AS STRING))
