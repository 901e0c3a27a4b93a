"""What one job hands to the next: typed artefacts that save and load themselves."""
