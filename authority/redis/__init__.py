"""Leases, the replay cache and read nonces on Redis: all key names, expiries and scripts end here."""
