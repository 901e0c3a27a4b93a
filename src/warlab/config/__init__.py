"""The configuration of a study: read, checked and resolved."""
