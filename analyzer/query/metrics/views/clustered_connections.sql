-- Connections, with the id of their cluster: null where it is not known, and the cluster is called by a broker with its port. Never filtered.
SELECT * REPLACE (cluster_id() AS cluster) FROM all_connections
