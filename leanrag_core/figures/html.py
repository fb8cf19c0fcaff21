"""HTML: pieces into which values go as text, and whole files that ask nothing of any network.

A template is written in the code. A value of a document, a model or a person becomes HTML only as text, in which
characters that are not seen are marks; what `html` made before is filled in as it is.
"""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from leanrag_core.figures.fonts import font_faces
from leanrag_core.figures.palette import palette
from leanrag_core.types.visible import visible

if TYPE_CHECKING:
    from jinja2 import Template

NOTHING = Markup("")
_SHELL = Path(__file__).with_name("file.html")
# Styles are set by scripts too, on single elements, which hashes cannot name.
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def html(template: str, /, *values: object, **named: object) -> Markup:
    """Fill the template as str.format does, each value escaped but for Markup: html("<b>{}</b>", name)."""
    return Markup(template).format(*map(_shown, values), **{name: _shown(value) for name, value in named.items()})


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Return the parts one after the other. between: HTML that is written in the code, such as "<br>"."""
    return Markup(between).join(part if isinstance(part, Markup) else visible(str(part)) for part in parts)


def html_file(
    body: Markup,
    *,
    title: str,
    language: str,
    styles: str,
    script: str = "",
    values: Any = None,
    has_own_files: bool = False,
) -> str:
    """Return a file that opens from a disk: the body in the type faces and the colours of the pages, light or dark.

    styles: more rules of its style sheet. script: the one that the file's policy allows, by its hash. It may read
    `values`, JSON values that are in the file as a block that no browser runs. has_own_files: it may load scripts that
    lie beside the file, too. Raises ValueError for NaN among the values.
    """
    if script:
        script = f"{{const values=JSON.parse(document.getElementById('values').textContent);{script}\n}}"  # no globals
    own_files = " 'self'" if has_own_files else ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    light, dark = (palette(dark=dark).css_variables() for dark in (False, True))
    colours = f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return _shell().render(
        body=body,
        title=title,
        language=language,
        styles=Markup(font_faces() + colours + styles),
        policy=_POLICY.format(f"'sha256-{digest}'{own_files}" if script else "'none'"),
        script=Markup(script),
        values=values,
    )


@cache
def _shell() -> "Template":
    from jinja2 import Environment  # some 50 ms, for exports alone

    environment = Environment(autoescape=True, finalize=_shown, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {
        "sort_keys": True,
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    return environment.from_string(_SHELL.read_text(encoding="utf-8"))


def _shown(value: Any) -> Any:
    """Write invisible characters as marks; in Markup that is already done."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
