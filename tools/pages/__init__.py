"""`make docs`: what is generated of pages and of contracts/."""
