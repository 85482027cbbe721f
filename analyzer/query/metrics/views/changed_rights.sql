-- Changes of ACLs that a broker made on request while the capture ran: one row per request, by whom and when.
SELECT c.cluster, who(x) AS changed_by, x.api_name, x.response_time_ns AS time_ns
FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
WHERE x.api_key IN (api('CreateAcls', 'DeleteAcls')) AND is_client(x.role) AND x.status = 'answered' AND coalesce(x.error_count, 0) = 0
