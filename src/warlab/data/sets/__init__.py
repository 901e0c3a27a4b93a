"""Datasets, one file each; found by the name of the file."""
