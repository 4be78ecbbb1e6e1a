"""The contract suite against any deployment of the service: what departs from SPEC, and what it does where SPEC is
silent."""
