"""A run from a folder of plain files, all of it checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from chatbench.core.dataset import Dataset, case_from_content
from chatbench.core.document import Document
from chatbench.core.fields import shown
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring, Summary, summarise
from chatbench.errors import InputError
from chatbench.scoring.names import check_column_name
from chatbench.store.reading import StoredRun
from chatbench.store.record_files import FORMATS, Columns
from chatbench.store.rows import measure_from_content
from chatbench.store.run_folder import CASES, HEAD, RESPONSES, RUN, SCORING, all_files, in_place, read_head, score_kinds


def read(folder: Path) -> StoredRun:
    """Return the run of a folder, all of it checked; see `import_run`. No name in it is taken as a path."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name one that export_run wrote.")
    head = read_head(folder)
    lacking = [name for name in all_files(head) if not (folder / name).is_file()]
    if lacking:
        raise InputError(f"{folder} lacks {', '.join(lacking)}; copy the whole folder.")
    where = str(folder / HEAD)
    run = _run(head["run"], where)
    dataset = _dataset(folder, head, run)
    responses, keys = _responses(folder / f"responses.{head['files']}", dataset)
    scorings = [
        _scoring(folder / name, content, keys, f"{where}, scoring {i}")
        for i, (name, content) in enumerate(zip(all_files(head)[2:], head["scorings"], strict=True), 1)
    ]
    for what in ("key", "signature"):
        if len({getattr(scoring, what) for scoring in scorings}) < len(scorings):
            raise InputError(f"{where}: two scorings have one {what}, so one would take the place of the other.")
    return StoredRun(run, dataset, responses, scorings)


def _run(content: Mapping[str, Any], where: str) -> Run:
    checked = _fields(Run, content, RUN, f"{where}, run")
    run = Run(**{**checked, "created_at": _time(checked["created_at"], f"{where}, run")})
    if not run.run_id.strip():
        raise InputError(f"{where}: the run has no id.")
    return run


_IN_JSON: dict[Any, Any] = {float: (float, int), Mapping: dict, tuple: list, datetime: str}
"""What a field's type is in JSON where it is not the same."""


def _fields(record: type, content: Mapping[str, Any], names: Iterable[str], where: str) -> dict[str, Any]:
    """Return the fields of a class that an object has, each of its type; one that it lacks is left to its default."""
    types, found = get_type_hints(record), {}
    # A time that is not told would be that of the import.
    optional = {f.name for f in fields(record) if (f.default, f.default_factory) != (MISSING, MISSING)} - {"created_at"}
    for name in names:
        if name not in content:
            if name in optional:
                continue
            raise InputError(f"{where} lacks {name!r}.")
        value = found[name] = content[name]
        kind, *others = get_args(types[name]) if isinstance(types[name], UnionType) else [types[name]]
        kind = get_origin(kind) or kind
        fits = isinstance(value, _IN_JSON.get(kind, kind)) and isinstance(value, bool) == (kind is bool)
        if not fits and not (value is None and NoneType in others):
            raise InputError(f"{where}: {name!r} is a {shown(value)}, which it cannot be.")
    return found


def _time(value: Any, where: str) -> datetime:
    try:
        time = datetime.fromisoformat(value)
        in_utc = time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: 'created_at' is a {shown(value)}; a time in ISO form is due.") from error
    if time.tzinfo is None:
        raise InputError(f"{where}: 'created_at' is {value!r}, without a time zone.")
    return in_utc


def _dataset(folder: Path, head: Mapping[str, Any], run: Run) -> Dataset:
    path = folder / f"cases.{head['files']}"
    columns = _read(path, CASES, required=("id",))
    columns.pop("question", None)  # a view of the input
    rows = _records(columns)
    # An input may be null; other fields that are have their default.
    contents = [{k: v for k, v in row.items() if v is not None or k == "input"} for row in rows]
    cases = tuple(in_place(f"{path}, row {i}", case_from_content, content) for i, content in enumerate(contents, 1))
    source = head.get("dataset_path")
    if source is not None and not isinstance(source, str):
        raise InputError(f"{folder / HEAD}: 'dataset_path' is a {shown(source)}; text or null is due.")
    dataset: Dataset = in_place(str(path), Dataset, cases, name=run.dataset, path=source)
    if (dataset.fingerprint, len(dataset)) != (run.dataset_id, run.n_questions):
        raise InputError(
            f"{path} has {len(dataset)} questions with the fingerprint {dataset.fingerprint}, but the run is of {run.n_questions} with "
            f"{run.dataset_id}: they were changed after the export."
        )
    return dataset


def _read(path: Path, kinds: Mapping[str, str], required: Sequence[str]) -> Columns:
    columns = FORMATS[path.suffix[1:]].read(path, kinds)
    for name in required:
        if name not in columns or None in columns[name]:
            raise InputError(f"{path} has rows without {name!r}.")
    return columns


def _records(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _responses(path: Path, dataset: Dataset) -> tuple[list[Response], list[tuple[str, int]]]:
    rows = _records(_read(path, RESPONSES, required=("case_id", "attempt")))
    keys = [(row.pop("case_id"), row["attempt"]) for row in rows]
    ids = [case.id for case in dataset]
    if unknown := {key for key, _ in keys}.difference(ids):
        raise InputError(f"{path} has a row for the case {min(unknown)!r}, which is not among the questions.")
    repeat = len(keys) // max(len(ids), 1)
    if [key for key, _ in keys] != [key for key in ids for _ in range(repeat)] or (ids and not repeat):
        raise InputError(
            f"{path} has {len(keys)} rows for {len(ids)} questions; equally many for each are due, in their order."
        )
    responses = [
        in_place(f"{path}, row {i}", _response, {k: v for k, v in row.items() if v is not None})
        for i, row in enumerate(rows, 1)
    ]
    return responses, keys


def _response(content: dict[str, Any]) -> Response:
    return Response(**{**content, "documents": tuple(Document(**d) for d in content.get("documents", ()))})


def _scoring(path: Path, content: Mapping[str, Any], keys: list[tuple[str, int]], where: str) -> Scoring:
    plain = _fields(Scoring, content, SCORING, where)
    if not all(isinstance(value, int | float) for value in plain.get("run_values", {}).values()):
        raise InputError(f"{where}: 'run_values' is {shown(plain['run_values'])}; numbers by measure are due.")
    if content.get("file") != path.name:
        raise InputError(f"{where}: its file is {content.get('file')!r}; {path.name!r} is due.")
    measures = tuple(in_place(where, _measure, m, plain["metric"]) for m in plain["measures"])
    if len({m.name for m in measures}) < len(measures):
        raise InputError(f"{where}: two of its measures have one name.")
    columns = _read(path, score_kinds(measures), required=("case_id", "attempt"))
    given = list(zip(columns["case_id"], columns["attempt"], strict=True))
    if unlike := set(given).difference(keys):
        raise InputError(f"{path} has a row for case and attempt {min(unlike)}, which has no response.")
    if given != keys:
        raise InputError(
            f"{path} has {len(given)} rows for {len(keys)} responses; one for each is due, in their order."
        )
    rows = len(keys)
    made = Scoring(
        **{**plain, "measures": measures, "summaries": (), "created_at": _time(plain["created_at"], where)},
        case_ids=columns["case_id"],
        attempts=columns["attempt"],
        values={m.name: columns.get(m.name, [None] * rows) for m in measures if not m.of_run},
        errors=columns.get("error", [None] * rows),
        missing=columns.get("missing", [None] * rows),
    )
    _check_reasons(made, path)
    _check_ranges(made, path)
    due = in_place(where, summarise, made)
    sums = tuple(in_place(where, _summary, s) for s in plain["summaries"]) if "summaries" in plain else due
    if not _agree(due, sums):
        raise InputError(
            f"{where}: its summaries are not those of the scores in {path.name}; one of them was changed after the export."
        )
    return replace(made, summaries=sums)


def _measure(content: Any, metric: str) -> Measure:
    measure = measure_from_content(content)
    check_column_name(measure.name, metric)
    ends = (measure.at_least, measure.at_most)
    if not isinstance(measure.of_run, bool) or not all(e is None or type(e) in (int, float) for e in ends):
        raise InputError(f"the range or of_run of the measure {measure.name!r} is of another type than it can be")
    return measure


def _check_reasons(made: Scoring, path: Path) -> None:
    for i, reasons in enumerate(made.missing, 1):
        texts = reasons.values() if isinstance(reasons, dict) else [reasons]
        if reasons is not None and not all(isinstance(text, str) for text in texts):
            raise InputError(
                f"{path}, row {i}: 'missing' is a {shown(reasons)}; an object of measures to reasons is due."
            )


def _check_ranges(made: Scoring, path: Path) -> None:
    for measure in made.columns:
        low, high = measure.at_least, measure.at_most
        for i, value in enumerate(made.values[measure.name], 1):
            if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
                raise InputError(
                    f"{path}, row {i}: {measure.name} is {value!r}, but its range is {measure.range_text()}."
                )


def _agree(due: Sequence[Summary], given: Sequence[Summary]) -> bool:
    """Whether means and counts are the same but for rounding. Intervals are kept as they came: their method may improve."""
    facts = [[(s.measure, s.n_scored, s.n_errors, s.n_missing) for s in sums] for sums in (due, given)]
    same = facts[0] == facts[1] and all(map(_close, [s.mean for s in due], [s.mean for s in given]))
    return same and all(_holds_its_mean(s) for s in given)


def _holds_its_mean(s: Summary) -> bool:
    """Whether an interval is one: two numbers with the mean between them, or none."""
    if s.low is None or s.high is None or s.mean is None:
        return s.low is None and s.high is None
    numbers = [s.low, s.mean, s.high]
    rounding = 1e-9 * max(map(abs, numbers))
    return all(type(n) in (int, float) and math.isfinite(n) for n in numbers) and (
        s.low - rounding <= s.mean <= s.high + rounding
    )


def _close(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _summary(content: Any) -> Summary:
    made = Summary(**content)
    if not all(value is None or isinstance(value, int | float) for value in (made.mean, made.low, made.high)):
        raise InputError(f"the summary of {made.measure!r} has a mean or an interval that is no number")
    return made
