"""What a query may do on PostgreSQL, and its parameters in the server's own form."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chatbench.errors import QueryError
from chatbench.store.statements import more_than_reading, no_transactions

Prepared = list[tuple[str, list[Any] | None]]


class Token(NamedTuple):
    """A piece of a statement: `kind` is word, name, unicode_name, text, comment, place, end, space or other."""

    kind: str
    text: str


_TOKENS = re.compile(
    r"""
    (?P<comment>--[^\r\n]*)
    | (?P<unicode_name>u&"(?:[^"]|"")*")
    | (?P<text>e'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | \$(?P<tag>(?:{letter}{rest}*)?)\$.*?\$(?P=tag)\$)
    | (?P<name>"(?:[^"]|"")*")
    | (?P<place>\$[0-9]+ | \${letter}{rest}* | \?)
    | (?P<word>{letter}(?:{rest}|\$)*)
    | (?P<end>;)
    | (?P<space>[\ \t\n\r\f\v]+)
    | (?P<other>[0-9](?:{rest}|\.)* | .)
    """.replace("{letter}", r"[A-Za-z_\x80-\U0010ffff]").replace("{rest}", r"[A-Za-z0-9_\x80-\U0010ffff]"),
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# As the server reads it: a comment ends at either end of a line, and whatever is not ASCII is a letter.

_TRANSACTION = {"begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"}
_READING = {"select", "with", "values", "table", "show", "explain", "("}

# Functions that a SELECT can call in a transaction that only reads, and that change settings, locks, files, other
# sessions or other databases, read files of the server, or run text as SQL.
_CHANGING = re.compile(
    r"set_config|nextval|setval|dblink\w*|lo_\w+|lowrite|loread"
    r"|pg_(?:try_)?advisory\w*|pg_(?:terminate|cancel)_backend|pg_reload_conf|pg_rotate_logfile\w*|pg_promote|pg_notify"
    r"|pg_switch_wal|pg_wal_replay\w*|pg_(?:create|drop|copy|start|stop|backup)_\w+|pg_replication\w*|pg_logical\w*"
    r"|pg_stat_\w*reset\w*|pg_stat_file|pg_file_\w+|pg_read_\w+|pg_ls_\w+|pg_current_logfile|pg_export_snapshot"
    r"|pg_import_system_collations|pg_extension_config_dump|pg_log_backend\w*"
    r"|query_to_xml\w*|cursor_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*"
)


def prepare(sql: str, parameters: Any, *, write: bool) -> Prepared:
    """Return what is to be run, each text with its values; raise `QueryError` for what a query may not have.

    Parameters are bound in the last statement, a list to `?` or `$1` and a dict to `$name`, outside of texts,
    names and comments.
    """
    statements = [tokens for tokens in _split(_scan(sql)) if _significant(tokens)]
    for tokens in statements:
        _check(tokens, write)
    if parameters is None or (isinstance(parameters, Sequence | Mapping) and not parameters) or not statements:
        return [(_text(tokens), None) for tokens in statements] or [(sql, None)]
    if isinstance(parameters, str) or not isinstance(parameters, Sequence | Mapping):
        raise QueryError(f"Parameters are a list for ? or a dict for $name, not a {type(parameters).__name__}.")
    *first, last = statements
    if any(token.kind == "place" for tokens in first for token in tokens):
        raise QueryError("Parameters are bound in the last statement only; ask one statement at a time.")
    text, values = _named(last, parameters) if isinstance(parameters, Mapping) else _numbered(last, parameters)
    return [*((_text(tokens), None) for tokens in first), (text, values)]


def _scan(sql: str) -> Iterator[Token]:
    place = 0
    while place < len(sql):
        if sql.startswith("/*", place):
            end = _end_of_comment(sql, place)
            yield Token("comment", sql[place:end])
            place = end
            continue
        found = _TOKENS.match(sql, place)
        if found is None:  # cannot be: the last alternative takes any character
            raise QueryError("The query cannot be read.")
        kind = next(k for k, v in found.groupdict().items() if v is not None and k != "tag")
        yield Token(kind, found[0])
        place = found.end()


def _end_of_comment(sql: str, start: int) -> int:
    """Return where a comment ends; comments may hold others."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", sql[start:]):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return start + mark.end()
    return len(sql)


def _split(tokens: Iterator[Token]) -> list[list[Token]]:
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "end":
            statements.append([])
        else:
            statements[-1].append(token)
    return statements


def _significant(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind not in ("comment", "space")]


def _text(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


def _check(tokens: Sequence[Token], write: bool) -> None:
    rest = _significant(tokens)
    words = [token.text.lower() for token in rest[:2]]
    if words[0] in _TRANSACTION or words == ["prepare", "transaction"]:
        raise no_transactions()
    if words[0] == "copy" and {"stdin", "stdout"} & {token.text.lower() for token in rest}:
        raise QueryError("COPY from STDIN and to STDOUT is not possible here; psql does that.")
    if write:
        return
    if words[0] == "explain":  # with ANALYZE it runs what it explains, even CREATE TABLE AS
        rest = _explained(rest[1:])
    if not rest or rest[0].text.lower() not in _READING:
        what = rest[0].text.upper() if rest and rest[0].kind == "word" else "That"
        raise more_than_reading(what)
    for token, following in itertools.pairwise(rest):
        if token.kind == "unicode_name":
            raise QueryError("Names with Unicode escapes are not possible here; write the letters.")
        name = token.text.lower() if token.kind == "word" else token.text[1:-1] if token.kind == "name" else ""
        if following.text == "(" and _CHANGING.fullmatch(name):
            raise more_than_reading(name)


def _explained(tokens: Sequence[Token]) -> list[Token]:
    """Return what stands behind EXPLAIN and its options."""
    rest = list(tokens)
    if len(rest) > 1 and rest[0].text == "(" and rest[1].text.lower() not in _READING:
        rest = list(itertools.dropwhile(lambda token: token.text != ")", rest))[1:]
    while rest and rest[0].text.lower() in ("analyze", "verbose"):
        rest = rest[1:]
    return rest


def _numbered(tokens: Sequence[Token], given: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write ? as $1, $2, ..."""
    places = [token.text for token in tokens if token.kind == "place" and not token.text[1:2].isalpha()]
    marks = places.count("?")
    if marks and marks < len(places):
        raise QueryError("A query has either ? or $1 for its parameters, not both.")
    needed = marks or max((int(text[1:]) for text in places), default=0)
    if needed != len(given):
        raise QueryError(f"{len(given)} parameters were given, and the query has places for {needed}.")
    numbers = iter(range(1, marks + 1))
    return "".join(f"${next(numbers)}" if t == ("place", "?") else t.text for t in tokens), list(given)


def _named(tokens: Sequence[Token], given: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Write $name as $1, $2, ..."""
    names = list(dict.fromkeys(t.text[1:] for t in tokens if t.kind == "place" and t.text != "?"))
    if set(names) != set(given):
        raise QueryError(f"The query names {_shown(names)}, and parameters were given for {_shown(given)}.")
    numbers = {f"${name}": f"${number}" for number, name in enumerate(names, 1)}
    text = "".join(numbers.get(t.text, t.text) if t.kind == "place" else t.text for t in tokens)
    return text, [given[name] for name in names]


def _shown(names: Any) -> str:
    return ", ".join(f"${name}" for name in names) or "no parameter"
