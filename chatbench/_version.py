"""The version of chatbench."""

__version__ = "0.1.0"
