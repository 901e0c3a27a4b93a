"""The command `warlab`."""
