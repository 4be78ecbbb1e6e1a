"""Programs for maintainers: simulation, kills, fuzzing, generated pages, the site. None of it is a test.

Tools may import `tests.support`; nothing there imports a tool.
"""
