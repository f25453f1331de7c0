"""Writes the list of metrics into README.md and docs/metrics.md from the registry; `--check` only says whether they are stale."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from chatbench.reports.metric_table import metric_records

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- metrics: written by docs/write_metrics.py -->", "<!-- end of metrics -->"


def readme_table(records: list[dict[str, Any]]) -> str:
    """Return the README's table: a line per metric."""
    lines = ["| metric | what it says | measures |", "|---|---|---|"]
    for record in records:
        measures = ", ".join(f"`{m['name']}`" for m in record["measures"])
        lines.append(
            f"| [`{record['metric']}`](docs/metrics.md#{record['metric'].lower()}) | {record['sentence']} | {measures} |"
        )
    return "\n".join(lines)


def metrics_page(records: list[dict[str, Any]]) -> str:
    """Return docs/metrics.md: a section per metric."""
    parts = [
        "# Metrics",
        "Written from the registry by `make docs`. Every measure is NULL with a reason where it cannot be computed; means are of questions, "
        "repeats averaged within a question first; intervals are Wilson's for yes/no measures, else Student's t over the questions.",
    ]
    for record in records:
        parts += [f"## {record['metric']}", record["doc"]]
        if record["parameters"]:
            parts.append(f"Parameters: {', '.join(f'`{p}`' for p in record['parameters'])}.")
        rows = ["| measure | column | type | range | better | what it is |", "|---|---|---|---|---|---|"]
        rows += [
            f"| `{m['name']}` | `{m['column']}` | {m['type']} | {m['range'] or '–'} | {m['better'] or '–'} | {m['sentence']} |"
            for m in record["measures"]
        ]
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def pages() -> dict[Path, str]:
    """Return each page with the text that it should have."""
    records = metric_records("chatbench.")
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return {
        readme: f"{before}{BEGIN}\n{readme_table(records)}\n{END}{after}",
        ROOT / "docs" / "metrics.md": metrics_page(records),
    }


def main() -> int:
    """Write the pages, or check them; return the exit code."""
    check = "--check" in sys.argv[1:]
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} {'is stale: run make docs' if check else 'written'}")
        if not check:
            path.write_text(pages()[path], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
