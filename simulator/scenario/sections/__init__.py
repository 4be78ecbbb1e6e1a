"""The sections of a scenario: each module compiles one of them into values of the domain."""
