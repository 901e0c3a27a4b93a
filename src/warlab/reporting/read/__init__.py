"""Finished runs as tables and arrays."""
