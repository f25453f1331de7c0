"""The flows, written once, used by every face."""
