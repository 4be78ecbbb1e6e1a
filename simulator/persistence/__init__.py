"""Persistence: the inputs of a sandbox rebuild it, after a restart, at an earlier moment, or on another machine.

The theory. A sandbox is deterministic: the same scenario, seed and inputs lead to the same state and to the same bytes
in each answer, callback and webhook. So a sandbox needs only its inputs:

- A `tape` has the inputs of one life in order. An `entry` is one input: a request as the journal has it, a command, the
  end of an attempt, a change of the clock, a message to an inbox. It has the times of the input, and what it led to.
- A `life` is a sandbox between its creation or last reset and the next one. It begins from a head: scenario, seed and
  clock.
- A `replay` plays the entries into a sandbox that has just begun. The same code runs as under a server. What differs
  from what the entries say is an error of the program, and is reported with the number of the entry.
- A `snapshot` is the whole state after entry n, typed, in MessagePack. It saves time and says nothing that the entries
  do not say: one that is damaged or of another version is passed over, and more entries are replayed.
- A `mark` names the moment after entry n. A rewind returns to a moment; a `fork` is a second sandbox that begins at
  one. Both replay from the nearest snapshot, beside the sandbox, which continues. A sandbox that begins from the tape
  of a file is made like a fork.
- The `store` keeps lives in one SQLite database in WAL mode. SQLite recovers it after a kill; each row has a checksum.
- A `commit` writes all that one turn of the event loop has led to, in one transaction. No answer, callback or event
  leaves before it: whatever somebody has seen is on the disk. A commit that fails is the last one, and nothing leaves.
- `retention` drops the entries that nobody can return to, and the oldest ones beyond 512 MiB of a life.

The rooms, from the bottom: `tape` (entries and their budget), `replay` (codec, player, files of tapes, redaction),
`snapshot` (state as bytes and back, and a cache in memory). The modules beside them return to moments (`rewinding`) and
keep tapes and snapshots in a folder (`data_folder`).
"""
