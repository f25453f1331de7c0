"""What a person holds in a notebook."""
