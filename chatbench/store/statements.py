"""What a query is told when it asks for more than it may, whatever the database."""

from chatbench.errors import QueryError

ONLY_READS = "A query only reads; to change the database say write=True (on the command line --write)."


def more_than_reading(what: str) -> QueryError:
    """Return the error for a statement or a function that changes something."""
    return QueryError(f"{what} does more than read. {ONLY_READS}")


def no_transactions() -> QueryError:
    """Return the error for BEGIN, COMMIT and their like."""
    return QueryError("BEGIN, COMMIT and ROLLBACK are not possible here: each call is one transaction.")
