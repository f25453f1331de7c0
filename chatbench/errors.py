"""Every exception of chatbench.

    ChatbenchError
    ├── InputError (ValueError)            what was given cannot be used
    │   ├── LengthError                    lists that must be equally long are not
    │   ├── InputTypeError (TypeError)     an argument is of another type than it can be
    │   ├── WrongOptionError               an option or argument that cannot be used
    │   ├── DatasetError                   a question set cannot be read
    │   │   ├── DatasetNotFoundError (FileNotFoundError)
    │   │   └── MissingKeyError (KeyError) records lack a key that was asked for
    │   └── ReadingError (UnicodeError)    a file is in another encoding
    ├── MetricError
    │   ├── MetricDefinitionError (TypeError)   a metric class is not usable as written
    │   ├── MetricOutputError (ValueError)      a metric returned something it did not declare
    │   └── UnknownMetricError (ValueError, KeyError)
    ├── MissingDependencyError (ImportError)    an extra or a model is not installed
    └── StoreError
        ├── DatabaseNotFoundError (FileNotFoundError)
        ├── NotADatabaseError              the file is something else
        ├── DatabaseLockedError (TimeoutError)
        ├── DatabaseUnreachableError (ConnectionError)  a server is down, refuses, or was lost
        ├── ReadOnlyError (PermissionError)
        ├── RunNotFoundError (LookupError)
        ├── SchemaError                    tables and metric do not fit together
        └── QueryError (ValueError)        the database refused a query

Signals of a metric about one question, not faults of the program:

    Missing (Exception)                    this question cannot be scored, and why
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ChatbenchError(Exception):
    """Base of every error that chatbench raises on purpose."""

    def __str__(self) -> str:
        # KeyError would show the repr of the text; every error here is a sentence.
        return str(self.args[0]) if self.args else ""


class InputError(ChatbenchError, ValueError):
    """What was given cannot be used."""


class LengthError(InputError):
    """Lists that belong together have different lengths."""


class InputTypeError(InputError, TypeError):
    """An argument is of another type than it can be."""


class WrongOptionError(InputError):
    """An option or argument that cannot be used: a name that is not there, or options that contradict each other."""


class DatasetError(InputError):
    """A question set cannot be read; the text names every offending record, counted from 1."""


class DatasetNotFoundError(DatasetError, FileNotFoundError):
    """The file of a question set does not exist."""


class MissingKeyError(DatasetError, KeyError):
    """Records lack a key that was asked for."""


class ReadingError(InputError, UnicodeError):
    """A file cannot be decoded."""


class MetricError(ChatbenchError):
    """Base of the errors about metrics."""


class MetricDefinitionError(MetricError, TypeError):
    """A metric class is not usable as it is written."""


class MetricOutputError(MetricError, ValueError):
    """A metric returned something other than it declared."""


class UnknownMetricError(MetricError, ValueError, KeyError):
    """No metric of this name is registered."""


class MissingDependencyError(ChatbenchError, ImportError):
    """A package or a model is not installed; the text has the command that installs it."""


class StoreError(ChatbenchError):
    """Base of the errors about the database."""


class DatabaseNotFoundError(StoreError, FileNotFoundError):
    """The database to read does not exist; nothing was created."""


class NotADatabaseError(StoreError):
    """The file is no database of chatbench."""


class DatabaseLockedError(StoreError, TimeoutError):
    """Another process held the database for longer than the retry."""


class DatabaseUnreachableError(StoreError, ConnectionError):
    """A server is down or refuses the connection, or the connection was lost in the middle of a call."""


class ReadOnlyError(StoreError, PermissionError):
    """The database or its folder cannot be written."""


class RunNotFoundError(StoreError, LookupError):
    """No stored run has this id or name."""


class SchemaError(StoreError):
    """A metric's declaration does not fit the table it has in this database."""


class QueryError(StoreError, ValueError):
    """The database refused a query."""


class Missing(Exception):
    """Say inside a metric that a question cannot be scored, and why: the cell becomes NULL with this reason.

    It may be raised, returned for the whole row, or put in place of one value.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest known name, or an empty string."""
    folded = {k.casefold().replace("_", ""): k for k in known}
    found = get_close_matches(name.casefold().replace("_", ""), folded, n=1, cutoff=0.6)
    return f" Did you mean {folded[found[0]]!r}?" if found else ""
