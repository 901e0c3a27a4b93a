"""Training: one loop for all methods, exact resume, and an evaluation that alone sees clean labels."""
