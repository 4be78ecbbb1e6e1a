"""What a reseller's transactions and ledger entries add up to, indexed as they are written."""
