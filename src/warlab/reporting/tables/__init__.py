"""Tables of results in the paper's layout."""
