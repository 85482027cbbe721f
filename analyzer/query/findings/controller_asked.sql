-- severity: medium
-- rank: 6
-- when: offered_versions having bool_or(api_key = api('BrokerRegistration'))
-- says: {broker} is a controller and no broker: {who} asks for its versions and closes the connection, {times|time|times}
-- do: Name brokers in bootstrap.servers of this client, and the port of their client listener: controllers (KRaft) serve brokers and administrators alone (bootstrap.controllers).
-- look: kanalyze connections --client {client_address}
-- explains: connection_storm, unexplained
-- costs: connections
SELECT * FROM controllers_asked
