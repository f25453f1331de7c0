"""Question sets in, one file per format."""
