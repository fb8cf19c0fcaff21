"""Render the PDF and DOCX documents of sample corpora from their Markdown sources: python sample_corpora/render.py NAME

sources/X.pdf.md becomes documents/X.pdf, sources/X.docx.md becomes documents/X.docx; the same source gives the same
bytes. Sources hold headings, paragraphs, "- " lists and pipe tables.
"""

import io
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import docx
from fpdf import FPDF

ROOT = Path(__file__).parent
WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)

Block = tuple[str, list[str]]  # kind: h1 h2 h3 paragraph list table; its lines


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a source in order."""
    for raw in text.strip().split("\n\n"):
        lines = [line.rstrip() for line in raw.strip().splitlines()]
        while lines and lines[0].startswith("#"):
            marks, _, title = lines.pop(0).partition(" ")
            yield f"h{len(marks)}", [title]
        if not lines:
            continue
        if lines[0].startswith("- "):
            items: list[str] = []
            for line in lines:
                if line.startswith("- "):
                    items.append(line[2:])
                else:
                    items[-1] += f" {line.strip()}"
            yield "list", items
        elif lines[0].startswith("|"):
            yield "table", [line for line in lines if not set(line) <= set("|-: ")]
        else:
            yield "paragraph", [" ".join(lines)]


def cells(line: str) -> list[str]:
    """The cells of a table row."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def pdf(source: str, title: str) -> bytes:
    """The source as a PDF with page numbers."""

    class Page(FPDF):
        def footer(self) -> None:
            self.set_y(-15)
            self.set_font("Helvetica", size=9)
            self.cell(0, 8, f"{title}  -  page {self.page_no()}", align="C")

    page = Page()
    page.set_creation_date(WRITTEN)
    page.set_title(title)
    page.set_margins(22, 20, 22)
    page.set_auto_page_break(True, margin=20)
    page.add_page()
    width = page.epw
    for kind, lines in blocks(source):
        if kind.startswith("h"):
            page.ln(3)
            page.set_font("Helvetica", "B", {"h1": 18, "h2": 13}.get(kind, 11))
            page.multi_cell(width, 8, lines[0], align="L", new_x="LMARGIN", new_y="NEXT")
            page.ln(1)
        elif kind == "table":
            page.set_font("Helvetica", size=9)
            with page.table(line_height=5) as table:
                for line in lines:
                    row = table.row()
                    for cell in cells(line):
                        row.cell(cell)
            page.ln(3)
        else:
            page.set_font("Times", size=11)
            for line in lines:
                text = f"-  {line}" if kind == "list" else line
                page.multi_cell(width, 5.4, text, align="L", new_x="LMARGIN", new_y="NEXT")
            page.ln(2.5)
    return bytes(page.output())


def word(source: str, title: str) -> bytes:
    """The source as a DOCX with heading styles."""
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author = title, "LeanRAG Workbench"
    properties.created = properties.modified = WRITTEN
    for kind, lines in blocks(source):
        if kind.startswith("h"):
            document.add_heading(lines[0], level=int(kind[1]))
        elif kind == "list":
            for line in lines:
                document.add_paragraph(line, style="List Bullet")
        elif kind == "table":
            rows = [cells(line) for line in lines]
            table = document.add_table(rows=0, cols=len(rows[0]))
            for row in rows:
                for cell, text in zip(table.add_row().cells, row, strict=False):
                    cell.text = text
        else:
            document.add_paragraph(lines[0])
    made, fixed = io.BytesIO(), io.BytesIO()
    document.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda one: (one != "[Content_Types].xml", one)):
            new.writestr(zipfile.ZipInfo(name, (2026, 11, 1, 0, 0, 0)), old.read(name), zipfile.ZIP_DEFLATED)
    return fixed.getvalue()


def render(name: str) -> None:
    """Every source of the corpus stands rendered among its documents."""
    for path in sorted((ROOT / name / "sources").glob("*.md")):
        source = path.read_text(encoding="utf-8")
        title = next(lines[0] for kind, lines in blocks(source) if kind == "h1")
        target = ROOT / name / "documents" / path.name.removesuffix(".md")
        target.write_bytes(pdf(source, title) if target.suffix == ".pdf" else word(source, title))
        print(target.relative_to(ROOT))


if __name__ == "__main__":
    for corpus in sys.argv[1:]:
        render(corpus)
