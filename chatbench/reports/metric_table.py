"""The list of metrics, written from the registry."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from chatbench.scoring.declaration import default_of, plain
from chatbench.scoring.metric import Metric
from chatbench.scoring.registry import all_metrics


def metric_records(package: str = "") -> list[dict[str, Any]]:
    """Return what each registered metric declares; `package` keeps only the metrics of that package."""
    return [_record(name, cls) for name, cls in all_metrics().items() if cls.__module__.startswith(package)]


def _record(name: str, cls: type[Metric]) -> dict[str, Any]:
    doc = inspect.getdoc(cls) or ""
    return {
        "metric": name,
        "sentence": doc.split("\n\n")[0].replace("\n", " "),
        "doc": doc,
        "table": cls.table,
        "parameters": [_parameter(f) for f in dataclasses.fields(cls)],
        "measures": [
            {
                "name": m.name,
                "column": f"{cls.table}_{m.name}",
                "type": m.type_name,
                "range": m.range_text(),
                "better": m.better,
                "sentence": m.sentence,
            }
            for m in cls.measures
        ],
    }


def _parameter(f: dataclasses.Field[Any]) -> str:
    default = default_of(f)
    return f.name if default is dataclasses.MISSING else f"{f.name}={plain(default)!r}"
