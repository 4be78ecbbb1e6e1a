"""The documentation's site: its pages, its links, its versions, and what fails a build."""
