"""PostgreSQL as the store of several servers, which own the sandboxes by leases.

Each server registers itself as a row of `servers`, whose key is its fencing number, and renews its lease. A sandbox
belongs to the server that `owners` names. A server may take a sandbox over when the lease of its owner has ended; it
fences that owner first, and each commit of a server checks that it was not fenced. The lease follows the clock of the
database.

From the bottom: `address` and `migration` (the database and its tables), `postgres_store` (reading, commits),
`leases` (ownership in the database), `owners` and `cluster` (the sandboxes in memory), `forwarding` and `routing`
(requests for the sandboxes of another server), `database_transfer` (export and import).
"""
