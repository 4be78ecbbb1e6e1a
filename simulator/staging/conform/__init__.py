"""The contract suite for any deployment of the service: departures from SPEC, and the service's choices where SPEC is
silent."""
