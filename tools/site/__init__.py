"""`make site`: build the documentation as static pages with search, and check every link."""
