"""What one room hands to the next, as types that save and load themselves."""
