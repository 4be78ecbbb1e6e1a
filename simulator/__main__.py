"""`python -m simulator`: the same as the command `reseller-sim`."""

from simulator.cli.main import main

if __name__ == "__main__":
    main()
