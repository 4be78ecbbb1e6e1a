"""The contract as data: `contracts/` read, requests and responses checked against it."""
