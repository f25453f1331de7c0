"""Saves and queries: the only room with SQL."""
