"""The sections of a scenario: each module compiles a section into values of the domain."""
