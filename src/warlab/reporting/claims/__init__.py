"""Verdicts on the paper's claims."""
