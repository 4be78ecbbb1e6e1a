"""Sandboxes on disk: their inputs, snapshots and archives, durable by commits. What the bytes mean is others' affair.

A folder has one database of SQLite with a write-ahead log (`layout`), and one owner (`ownership`). `store.Store` opens
it. What is to be written is only listed (`writing`), and a commit writes all of it or nothing (`transactions`), where
and when `committing` says. What is kept is a rule (`retention`), what is not is removed little by little (`sweeping`).
`reading` reads in slices; `checking`, `compacting` and `moving` are for people who look after a folder.
"""
