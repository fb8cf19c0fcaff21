"""The tabs of Evaluate, and the names under which links hold what they show."""

from pages.common.messages import LANGUAGE

RESULTS, QUESTIONS, SETS, SWEEPS = "results", "questions", "sets", "sweeps"
AUDIT, EXTRACTION, HISTORY = "audit", "extraction", "history"
TABS = (RESULTS, QUESTIONS, SETS, SWEEPS, AUDIT, EXTRACTION, HISTORY)

TAB, EXPERIMENT, JOB = "tab", "exp", "job"
KIND, SORT, RUN, AGAINST = "kind", "sort", "run", "against"
OTHER, MEASURE, SET, COLUMNS = "exp2", "measure", "set", "columns"
URL = (
    TAB,
    "index",
    EXPERIMENT,
    KIND,
    SORT,
    RUN,
    AGAINST,
    OTHER,
    MEASURE,
    SET,
    COLUMNS,
    JOB,
    "question",
    "more",
    "row",
    "sweep",
    "colour",
    "point",
    "keep",
    "skind",
    "smeasure",
    "audit",
    "criterion",
    "pair",
    "judge",
    "ptable",
    "pset",
    "pcriterion",
    "flip",
    "jrow",
    "xindex",
    "xmatch",
    "xlist",
    LANGUAGE,
)
