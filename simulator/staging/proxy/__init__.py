"""A proxy in front of a real deployment: changes nothing on the way, keeps what it saw, and says what departs from the
contract.
"""
