"""Kinds of label noise: one file each, with a `KIND`."""
