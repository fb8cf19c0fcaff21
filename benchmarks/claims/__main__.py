"""Checks published claims against recorded outputs.

    python -m benchmarks.claims                          # what needs no file: papers' texts and their printed tables
    python -m benchmarks.claims --data FOLDER            # and every claim whose files lie anywhere below the folder
    python -m benchmarks.claims --data FOLDER --write    # also benchmarks/results/claims.json and docs/claims.md
    python -m benchmarks.claims --page                   # the page once more from the results

Files are listed in benchmarks/claims/files.csv with repository, commit, licence and SHA-256. Fetch them yourself;
nothing is downloaded, and what is absent is said to be missing.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.claims.manifest import UNVERIFIED, VERIFIED, Claim, FoundFile, claims, find_files, source_files
from benchmarks.claims.page import counts_table, missing_files, page_text
from benchmarks.claims.verdicts import Outcome, check_claims

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "claims.json"
PAGE = ROOT / "docs" / "claims.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the verdicts. Returns 2 where the folder does not exist."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.claims", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the recorded outputs lie, at any depth")
    parser.add_argument("--write", action="store_true", help="keep the results and write the page")
    parser.add_argument("--page", action="store_true", help="write the page from the results that were kept")
    options = parser.parse_args(arguments)
    manifest = claims()
    if options.page:
        PAGE.write_text(page_text(manifest, source_files(), kept_outcomes()), encoding="utf-8")
        return 0
    if options.data is not None and not options.data.is_dir():
        print(f"there is no folder {options.data}", file=sys.stderr)
        return 2
    files = find_files(source_files(), options.data)
    outcomes = check_claims(manifest, files)
    report(manifest, files, outcomes)
    if options.write:
        RESULTS.write_text(results_text(files, outcomes), encoding="utf-8")
        PAGE.write_text(page_text(manifest, source_files(), kept_outcomes()), encoding="utf-8")
    return 0


def report(manifest: Sequence[Claim], files: Mapping[str, FoundFile], outcomes: Sequence[Outcome]) -> None:
    """Print each claim with its verdict, then the counts, and what became of the files."""
    by_id = {outcome.claim: outcome for outcome in outcomes}
    for claim in manifest:
        outcome = by_id[claim.id]
        print(f"{outcome.verdict:<20} {claim.id}: published {claim.published}, {_figures(outcome)}")
    print(f"\n{counts_table(manifest, by_id)}\n")
    for found in files.values():
        if found.status not in (VERIFIED, UNVERIFIED):
            source = found.source
            print(f"{found.status}: {source.name} ({source.repository}@{source.commit}, {source.folder})")
        elif found.status == UNVERIFIED:
            print(f"{UNVERIFIED}: {found.source.name} has SHA-256 {found.sha256}; the manifest has none")
    if missing := missing_files({name: found.status for name, found in files.items()}):
        print(f"{len(missing)} of {len(files)} files are missing; benchmarks/claims/files.csv says where to fetch them")


def _figures(outcome: Outcome) -> str:
    if outcome.found is None:
        return outcome.files
    interval = "" if outcome.low is None else f" [{outcome.low:g}, {outcome.high:g}]"
    p = "" if outcome.p is None else f", p {outcome.p:g} after Holm"
    return f"found {outcome.found:g}{interval}{p}{'' if outcome.in_both_orders else ', in one order only'}"


def results_text(files: Mapping[str, FoundFile], outcomes: Sequence[Outcome]) -> str:
    """Return the results as JSON: the status of each file, and the outcomes in the order of the manifest."""
    statuses = {name: found.status for name, found in files.items()}
    value = {"files": statuses, "outcomes": [asdict(outcome) for outcome in outcomes]}
    return json.dumps(value, indent=1) + "\n"


def kept_outcomes() -> Mapping[str, Outcome]:
    """Read the outcomes that were kept, by the ids of their claims."""
    kept: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["outcomes"]
    return {each["claim"]: Outcome(**each) for each in kept}


if __name__ == "__main__":
    sys.exit(main())
