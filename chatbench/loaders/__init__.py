"""Question sets and responses in, one file per format."""

from chatbench.loaders.load import load_dataset
from chatbench.loaders.responses import load_responses

__all__ = ["load_dataset", "load_responses"]
