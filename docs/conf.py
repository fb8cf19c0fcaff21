"""Sphinx settings of the manual: `sphinx-build -W docs SITE`."""

project = "LeanRAG Workbench"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures", "cases"]
html_theme = "furo"
html_title = project
html_static_path: list[str] = []
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.xref_missing", "myst.header"]  # links to files outside docs/ are checked by a test
