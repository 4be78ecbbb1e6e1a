"""A server without `--store` needs nothing of PostgreSQL."""

import subprocess
import sys

MODULES = "simulator.cli.serve, simulator.cli.server, simulator.control.control_app, simulator.persistence.data_folder"


def test_neither_a_folder_nor_the_command_line_imports_psycopg() -> None:
    program = f"import sys, {MODULES}\nprint(any(name.startswith('psycopg') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
