"""`make docs`: generate pages, tables and parts of contracts/."""
