"""The only wiring: which adapter stands behind which port."""
