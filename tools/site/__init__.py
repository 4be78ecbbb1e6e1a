"""`make site`: the documentation as static pages with a search of their own, checked link by link."""
