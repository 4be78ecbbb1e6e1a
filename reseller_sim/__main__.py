"""`python -m reseller_sim`: the same as the command `reseller-sim`."""

from reseller_sim.launcher import main

if __name__ == "__main__":
    main()
