"""Totals and indexes of a reseller's transactions and ledger entries."""
