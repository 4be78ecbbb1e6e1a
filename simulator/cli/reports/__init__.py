"""The reports of `exec` and `check`: results in the formats that CI reads, and the folder of a whole run."""
