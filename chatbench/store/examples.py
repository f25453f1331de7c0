"""Questions in SQL that are shown to people."""

MISSED_BY_ALL = (
    "select question from document_match join runs using (run_id) join cases using (dataset_id, case_id) "
    "group by question having not bool_or(hit)"
)
"""The questions of which no run retrieved a true document."""
