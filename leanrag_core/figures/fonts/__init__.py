"""The pages' type faces in files that open without a server: Source Sans and Source Serif, as Streamlit ships them.

The files are the Latin subsets of the Fontsource packages source-sans-3 5.3.0 and source-serif-4 5.3.1 (SIL Open Font
License 1.1, OFL.txt). Other scripts take the reader's own fonts.
"""

import base64
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FACES = {"Source Sans": "source-sans-3-latin-wght-normal", "Source Serif": "source-serif-4-latin-wght-normal"}


def font_faces() -> str:
    """Return the rules of a style sheet that hold both type faces, in all weights; 108 kB."""
    rules = []
    for family, name in _FACES.items():
        content = base64.b64encode((_HERE / f"{name}.woff2").read_bytes()).decode()
        rules.append(
            f"@font-face{{font-family:'{family}';font-weight:200 900;src:url(data:font/woff2;base64,{content})}}"
        )
    return "".join(rules)
