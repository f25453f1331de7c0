"""Score RAG systems, keep every score in DuckDB, and ask in SQL which version is better."""

__version__ = "0.1.0"
