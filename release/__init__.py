"""What is made of the checkout for others: one file, a folder of wheels, a bill of materials, ranges of versions."""
