"""Optimal transport between predictions: the batched Sinkhorn, ground costs, and their verification with POT."""
