"""Rows of chATLAS_Benchmark as runs: which rows belong together, which questions they are of, and their scorings."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chatbench.core.case import Case
from chatbench.core.dataset import UNNAMED, Dataset
from chatbench.core.jsonable import digest
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring, summarise
from chatbench.core.warn import warn_user
from chatbench.errors import ChatbenchError, InputError
from chatbench.jobs.history import DEFAULT_NAME
from chatbench.loaders import load_dataset
from chatbench.store import StoredRun
from chatbench.store.chatlas_file import ScoreRow
from chatbench.store.chatlas_tables import Column

NEAR = timedelta(seconds=5)
"""Rows of one call were written milliseconds apart, seconds on a slow disk; longer pauses part calls."""

CLEAR = 10
"""Where one name was stored several times within `NEAR`, the pauses between calls must be so many times longer than
those inside them; else nobody can tell which rows belong together."""

SOURCE = "imported_from"
NO_ANSWERS = "chATLAS_Benchmark stored no answers"
_TOLERANCE = 1e-6  # the lists were cut to 10 decimals


@dataclass(frozen=True)
class Call:
    """Rows of one call of store_results, and what is uncertain about that."""

    rows: tuple[ScoreRow, ...]
    doubt: str = ""

    @property
    def n_questions(self) -> int | None:
        """Number of questions, None where no row has a list."""
        return next((row.n_questions for row in self.rows if row.n_questions is not None), None)


def calls(rows: Sequence[ScoreRow]) -> list[Call]:
    """Return the rows by call, oldest first: those of one name and one question_path that were written together.

    Rows that may belong to one call or another stand alone, with the doubt in words.
    """
    found = [
        Call((row,), "its time is unknown, so it cannot be told which other rows belong to it")
        for row in rows
        if row.time is None
    ]
    kin: dict[tuple[str, str | None], list[ScoreRow]] = {}
    for row in sorted((r for r in rows if r.time is not None), key=_moment):
        kin.setdefault((row.name, row.question_path), []).append(row)
    for related in kin.values():
        for chain in _split_at(related, [i for i, pause in _pauses(related) if pause > NEAR]):
            found += _parted(chain)
    return sorted(found, key=lambda call: min(_moment(row) for row in call.rows))


def _moment(row: ScoreRow) -> datetime:
    return row.time or datetime.max.replace(tzinfo=UTC)


def _pauses(rows: Sequence[ScoreRow]) -> list[tuple[int, timedelta]]:
    """Return the pause before each row but the first, with its place."""
    return [(i, _moment(after) - _moment(before)) for i, (before, after) in enumerate(itertools.pairwise(rows), 1)]


def _split_at(rows: Sequence[ScoreRow], places: Sequence[int]) -> list[tuple[ScoreRow, ...]]:
    return [tuple(rows[a:b]) for a, b in itertools.pairwise([0, *places, len(rows)])]


def _can_be_one(rows: Sequence[ScoreRow]) -> bool:
    counts = {row.n_questions for row in rows} - {None}
    return len({row.source.name for row in rows}) == len(rows) and len(counts) <= 1


def _parted(chain: tuple[ScoreRow, ...]) -> list[Call]:
    """Cut at the longest pauses until no call has two rows of one table; give single rows where that is not clear."""
    pauses = sorted(_pauses(chain), key=lambda pause: -pause[1])

    def enough(n: int) -> bool:
        return all(map(_can_be_one, _split_at(chain, _first(pauses, n))))

    n_cuts = bisect.bisect_left(range(len(chain)), True, key=enough)  # further cuts never spoil it
    cuts = [pause for _, pause in pauses[:n_cuts]]
    inside = [pause for _, pause in pauses[n_cuts:]]
    kinds = {(row.source.name, row.n_questions): row for row in chain}.values()
    if not cuts:
        clear = True
    elif inside:
        clear = min(cuts) > CLEAR * max(inside)
    else:  # all rows stand alone: that is sure where no two of them could be of one call
        clear = not any(map(_can_be_one, itertools.combinations(kinds, 2)))
    if not clear:
        doubt = "several calls of this name were stored at nearly the same time, so it cannot be told which rows belong together"
        return [Call((row,), doubt) for row in chain]
    return [Call(rows) for rows in _split_at(chain, _first(pauses, n_cuts))]


def _first(pauses: Sequence[tuple[int, timedelta]], n: int) -> list[int]:
    return sorted(place for place, _ in pauses[:n])


class Questions:
    """The questions of a question_path: given by the user, read from the file where it still is, or known by position."""

    def __init__(self, given: Any, folder: Path, found: Sequence[Call]) -> None:
        self._folder = folder
        self._read: dict[str, Dataset | None] = {}
        self._given: dict[str | None, Dataset] = {}
        sizes: dict[str | None, set[int | None]] = {}
        for call in found:
            sizes.setdefault(call.rows[0].question_path, set()).add(call.n_questions)
        if given is not None and not isinstance(given, Mapping):
            given = {self._path_of(load_dataset(given), sizes): given}
        for path, source in (given or {}).items():
            if path not in sizes:
                raise InputError(f"No row has the question_path {path!r}; there are {_listed(sizes)}.")
            dataset = load_dataset(source, name=None if path == UNNAMED else path)
            if len(dataset) not in sizes[path]:
                numbers = " and ".join(sorted(str(n) for n in sizes[path] if n)) or "a number that is not known"
                raise InputError(f"The questions given for {path!r} are {len(dataset)}, but its rows are of {numbers}.")
            self._given[path] = dataset

    @staticmethod
    def _path_of(dataset: Dataset, sizes: Mapping[str | None, set[int | None]]) -> str | None:
        """Return the one question_path that has as many questions."""
        fitting = [path for path, numbers in sizes.items() if len(dataset) in numbers]
        if len(fitting) == 1:
            return fitting[0]
        state = f"are those of {_listed(fitting)}" if fitting else f"no rows are of so many; paths: {_listed(sizes)}"
        raise InputError(
            f"There are {len(dataset)} questions given, and {state}. Say which they belong to: questions={{question_path: file}}."
        )

    def of(self, call: Call) -> tuple[Dataset, str]:
        """Return the questions of a call and a sentence about where they come from."""
        path, n = call.rows[0].question_path, call.n_questions
        # What cannot be the same for sure has other texts: compare_runs pairs questions by id and text.
        unnamed = path is None or path == UNNAMED
        where = f"an unnamed list ({call.rows[0].digest})" if unnamed else path
        if n is None:
            cases = (Case(f"all questions of {where}, whose number is not known", id="all"),)
            return Dataset(cases, name=path or UNNAMED), (
                "The file does not tell how many questions there were; one stands for all of them."
            )
        given = self._given.get(path)
        if given is not None and len(given) == n:
            return given, "The questions are those given to import_results."
        differs = "" if given is None else f" Those given are {len(given)}, not {n}."
        if path is not None and not unnamed:
            read = self._file(path)
            if read is not None and len(read) == n:
                return read, f"The questions are those of {read.path} as it is now."
            differs += "" if read is None else f" The file {read.path} has {len(read)} by now, not {n}."
        origin = f"The texts of the questions are unknown; they go by their position.{differs}"
        if unnamed:
            origin += (
                " The list had no name: whether another run had the same questions cannot be told. "
                "With questions= given, such runs can be compared question by question."
            )
        by_position = tuple(Case(f"question {i} of {n} in {where}", id=str(i)) for i in range(1, n + 1))
        return Dataset(by_position, name=path or UNNAMED), origin

    def _file(self, path: str) -> Dataset | None:
        """Return the set where its file still is: below the working folder, or beside the database as it was then."""
        if path not in self._read:
            self._read[path] = None
            place = next(filter(_is_file, (Path(path), self._folder / path)), None)
            if place is not None:
                try:
                    self._read[path] = load_dataset(place, name=path)
                except ChatbenchError as error:
                    warn_user(f"The questions in {place} cannot be used: {error}")
        return self._read[path]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _listed(paths: Iterable[str | None]) -> str:
    return ", ".join(sorted(map(repr, paths))) or "none"


def to_run(call: Call, source: Path, questions: Questions) -> tuple[StoredRun, list[str]]:
    """Return a call as a run, and what is wrong with it in sentences. `settings` tell where it comes from."""
    dataset, origin = questions.of(call)
    times = [row.time for row in call.rows if row.time is not None]
    faults = [f"{row.place}: {fault}." for row in call.rows for fault in (*row.faults, *_disagreements(row))]
    doubts = [f"{call.doubt[:1].upper()}{call.doubt[1:]}."] if call.doubt else []
    notes = [origin, *doubts, *faults]
    notes += [f"{row.place}: {why}." for row in call.rows for why in row.reasons.values() if why not in row.faults]
    if not call.rows[0].name:
        notes.append(f"The rows have no name; {DEFAULT_NAME} is the one that chATLAS_Benchmark gave.")
    if not times:
        times = [datetime.fromtimestamp(source.stat().st_mtime, UTC)]
        notes.append("The time of the run is that of the last change of the file.")
    facts = {
        "format": "chATLAS_Benchmark",
        "file": str(source),
        "question_path": call.rows[0].question_path,
        "rows": [{"table": row.source.name, "id": row.row_id, "digest": row.digest} for row in call.rows],
        "seconds_apart": (max(times) - min(times)).total_seconds(),
    }
    run = Run(
        run_id=_run_id(call, min(times)),
        name=call.rows[0].name or DEFAULT_NAME,
        dataset_id=dataset.fingerprint,
        dataset=dataset.name,
        n_questions=len(dataset),
        created_at=min(times),
        settings={SOURCE: facts, "notes": notes},
    )
    responses = [Response(None, error=NO_ANSWERS)] * len(dataset)
    scorings = [_scoring(row, dataset, min(times)) for row in call.rows]
    return StoredRun(run, dataset, responses, scorings), [*doubts, *faults]


def _run_id(call: Call, time: datetime) -> str:
    """Return an id that follows from the rows, sorted by time as others: importing twice at once doubles nothing."""
    microseconds = max(0, (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))
    return f"{microseconds:014x}{digest([row.digest for row in call.rows], 8)}"


def _disagreements(row: ScoreRow) -> list[str]:
    """Return a sentence for each mean that is not that of its list."""
    found = []
    for name, values in row.lists.items():
        scored = [value for value in values if value is not None]
        if name in row.means and scored:
            mean = math.fsum(scored) / len(scored)
            if abs(mean - row.means[name]) > _TOLERANCE:
                found.append(
                    f"the mean of {name} is {row.means[name]:g}, but that of its list {mean:g}; the list was taken"
                )
    return found


def _scoring(row: ScoreRow, dataset: Dataset, time: datetime) -> Scoring:
    n = len(dataset)
    missing: list[dict[str, str]] = [{} for _ in range(n)]
    values: dict[str, list[float | None]] = {}
    measures = []
    for column in row.source.columns:
        name = column.measure.name
        listed = _entries(row, column, n)
        measures.append(column.measure if listed is not None else replace(column.measure, of_run=True))
        if listed is not None:
            values[name] = listed
        reason = row.reasons.get(
            name, "null in the list of the file" if name in row.lists else "only its mean is known"
        )
        for i in range(n):
            if listed is None or listed[i] is None:
                missing[i][name] = reason
    made = Scoring(
        metric=row.source.metric,
        table=row.source.table,
        label="",
        signature=f"{row.source.metric}()",
        code_hash="imported",  # one for all: which version of the package computed them is not in the file
        measures=tuple(measures),
        case_ids=[case.id for case in dataset],
        attempts=[1] * n,
        values=values,
        errors=[None] * n,
        missing=[reasons or None for reasons in missing],
        run_values={m.name: row.means[m.name] for m in measures if m.of_run and m.name in row.means},
        created_at=row.time or time,
    )
    return replace(made, summaries=summarise(made))


def _entries(row: ScoreRow, column: Column, n: int) -> list[float | None] | None:
    """Return an entry per question, or None where there is a single number for all of them at most."""
    name = column.measure.name
    if name in row.lists:
        return row.lists[name]
    return [None] * n if column.by_question and n and name not in row.means else None
