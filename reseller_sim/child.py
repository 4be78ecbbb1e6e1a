"""The command as a child of a test run: it also ends when its stdin does, so it outlives nobody who started it.

It is run as a file, so this folder, which Python puts first on the path then, is replaced with its parent.
"""

import os
import signal
import sys
import threading


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from reseller_sim.launcher import main

    del sys.path[0]
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    main()
