"""The notebook face."""
