"""Formats of files that datasets come in."""
