"""The contract as data: loads `contracts/`, validates requests and responses against it."""
