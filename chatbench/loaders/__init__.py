"""Question sets from files, lists and frames."""

from chatbench.loaders.load import load_dataset

__all__ = ["load_dataset"]
