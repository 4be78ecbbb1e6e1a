"""Kill real servers that keep their sandboxes on disk, and compare what is on disk with what clients were answered."""
