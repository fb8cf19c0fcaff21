"""A PDF of three pages with the same line at their top."""

from fpdf import FPDF

HEAD = "Journal of Insects"
TEXTS = ("Bees dance in the hive.", "Ants follow trails of scent.", "Wasps build with paper.")


def paged_file() -> bytes:
    """Return a file with HEAD above each of TEXTS."""
    file = FPDF()
    for text in TEXTS:
        file.add_page()
        file.set_font("Helvetica", size=11)
        for place, line in enumerate((HEAD, text)):
            file.set_xy(20, 20 + 40 * place)
            file.cell(text=line)
    return bytes(file.output())
