"""Training: one loop that knows no method by name, exact resume, evaluation that alone sees clean labels."""
