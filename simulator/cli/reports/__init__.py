"""The reports of `exec` and `check`: what was examined, in the formats that CI reads, and the folder of a whole run."""
