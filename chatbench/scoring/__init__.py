"""Metrics as values, their registry, and the one loop that scores."""
