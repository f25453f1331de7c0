"""The text of a file, whatever its encoding."""

from __future__ import annotations

import json
from pathlib import Path

from chatbench.core.warn import warn_user
from chatbench.errors import DatasetError, DatasetNotFoundError, InputTypeError, ReadingError, did_you_mean

_FALLBACK = "cp1252"

_OTHER_FORMATS = {
    ".csv": "pandas.read_csv(path, dtype=str, keep_default_na=False)",
    ".tsv": 'pandas.read_csv(path, sep="\\t", dtype=str, keep_default_na=False)',
    ".parquet": "pandas.read_parquet(path)",
    ".xlsx": "pandas.read_excel(path)",
}


def read_text(path: Path, source: str, encoding: str | None = None) -> str:
    """Return the text of a file without its byte-order mark; `source` is the path as the user gave it.

    `encoding` decides when given. Else UTF-8, UTF-16 or UTF-32, as byte-order mark or the first characters of JSON
    tell; else Windows-1252 with a UserWarning. Raises `DatasetNotFoundError`, `DatasetError` for what is no readable
    file or of a format that is not read, `ReadingError` for bytes that the encoding does not have.
    """
    data = _read_bytes(path, source)
    text = _decode(data, source) if encoding is None else _decode_as(data, encoding, source)
    return text.removeprefix("\ufeff")


def _read_bytes(path: Path, source: str) -> bytes:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise _unreadable(error, path, source) from error
    if (reader := _OTHER_FORMATS.get(path.suffix.lower())) is not None:
        raise DatasetError(
            f"{source!r} is a {path.suffix} file; JSON lists, JSON lines (JSONL) and DataFrames are read. "
            f"Load it with {reader} and give the DataFrame."
        )
    return data


def _unreadable(error: Exception, path: Path, source: str) -> DatasetError:
    if source.strip().startswith(("[", "{")) and source.strip().endswith(("]", "}")):
        return DatasetError(f"{source[:40]!r} looks like JSON text; a path is due. Give its value: json.loads(text).")
    if isinstance(error, IsADirectoryError):
        return DatasetError(f"{source!r} is a folder. Name the file in it{_candidates(path)}.")
    if not isinstance(error, FileNotFoundError):
        return DatasetError(f"{source!r} cannot be read: {error}. Check the path and its permissions.")
    folder = path.absolute().parent
    if not folder.is_dir():
        advice = f": the folder {str(folder)!r} does not exist. Check the path."
    else:
        near = did_you_mean(path.name, (entry.name for entry in folder.iterdir()))
        advice = f" in {str(folder)!r}.{near or f' Check the path{_candidates(folder)}.'}"
    return DatasetNotFoundError(f"There is no file {source!r}{advice}")


def _candidates(folder: Path) -> str:
    try:
        names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in (".json", ".jsonl", ".ndjson"))
    except OSError:
        return ""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"; it has {', '.join(names[:5])}{more}" if names else ""


def _decode(data: bytes, source: str) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":  # the file says itself what it is: as Windows-1252 all of it would be garbled
            raise ReadingError(_undecodable(source, encoding, data, error)) from error
        fault = _undecodable(source, "UTF-8", data, error)
    try:
        text = data.decode(_FALLBACK)
    except UnicodeDecodeError as error:
        raise ReadingError(f"{fault} Windows-1252 ({_FALLBACK}) it is neither.") from error
    warn_user(f"{fault} It was read as Windows-1252 ({_FALLBACK}).")
    return text


def _decode_as(data: bytes, encoding: str, source: str) -> str:
    if not isinstance(encoding, str):
        raise InputTypeError(f"encoding is {encoding!r}, but a name such as 'utf-8' or 'latin-1' is due.")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ReadingError(_undecodable(source, encoding, data, error)) from error
    except (LookupError, ValueError) as error:  # ValueError: a NUL character in the name, or a codec's own complaint
        raise ReadingError(
            f"{source!r} cannot be read with encoding={encoding!r}: {error}. "
            "Give a name that Python knows, such as 'utf-8', 'utf-16' or 'latin-1', or leave it out."
        ) from error


def _undecodable(source: str, encoding: str, data: bytes, error: UnicodeDecodeError) -> str:
    """Say where the first byte is that the encoding does not have; places count from 0, lines from 1."""
    # codecs that skip a byte-order mark count behind it
    place = error.start + len(data) - len(error.object)
    line = data.count(b"\n", 0, place) + 1
    return (
        f"{source!r} is not {encoding}: byte 0x{data[place]:02x} at position {place} (line {line}). "
        "Give the right one with encoding=, or save the file as UTF-8."
    )
