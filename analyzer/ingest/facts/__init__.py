"""What message bodies say beyond the columns of an exchange: clusters, brokers, groups, transactions, logins, batches.

A kind of fact is one `FactKind`: an API, the fields it needs, and a function that makes rows of them. `collect` reads frames
for all kinds, `tables` has the columns of the raw tables, `analyzer/query/resolve` makes final tables of them. Nothing here
knows SQL.
"""
