"""Maps and contact sheets as pictures."""
