"""Persistence: a sandbox is rebuilt from its inputs, after a restart, at an earlier moment, or on another machine.

A sandbox is deterministic: the same scenario, seed and inputs lead to the same state and to the same bytes in each
answer, callback and webhook. So a sandbox needs only its inputs:

- A `tape` has the inputs of a life in order. An `entry` is a single input with its times and its result: a request as
  in the journal, a command, the beginning or end of an attempt, a change of the clock, or a message to an inbox. In
  memory, all but the latest entries are packed, and share their large parts with the journal and the state.
- A `life` of a sandbox begins with its creation, a reset or a rewind, and ends with the next of these, or with its
  deletion. Its head has the scenario, the seed and the clock.
- A `replay` plays the entries into a new sandbox, with the same code as under a server. A difference from the entries
  is a bug of the program, and is reported with the number of the entry.
- A `snapshot` is the whole state after entry n, typed, in MessagePack. It only saves time: a snapshot that is damaged
  or has another version is skipped, and more entries are replayed.
- A `mark` names the moment after entry n. A rewind returns to a moment; a `fork` is a second sandbox that begins at a
  moment. Both replay from the nearest snapshot, while the original continues. A sandbox that begins from a tape file
  is created like a fork.
- The `store` keeps lives in an SQLite database in WAL mode. SQLite recovers it after a kill; each row has a checksum.
  The room `postgres` keeps them in PostgreSQL instead, by the interface `Storage`.
- A `commit` writes the entries of a turn of the event loop in a single transaction. The server sends answers,
  callbacks and events only after it: all data that a client has seen is on the disk. After a failed commit, the server
  sends nothing.
- `retention` drops the entries that no rewind can reach, and the oldest entries above 512 MiB of a life.

The rooms, from the bottom: `tape` (entries and their budget), `replay` (codec, player, files of tapes, redaction),
`snapshot` (state as bytes and back, and a cache in memory). The other modules return to moments (`rewinding`) and
store tapes and snapshots in a folder (`data_folder`).
"""
