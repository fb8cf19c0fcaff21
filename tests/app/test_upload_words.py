"""Every field for uploads has its words in the reader's language."""

from pathlib import Path

import pages


def test_no_field_for_uploads_keeps_the_english_words_of_streamlit() -> None:
    scripts = {path.name: path.read_text(encoding="utf-8") for path in Path(pages.__path__[0]).rglob("*.py")}
    assert [name for name, script in scripts.items() if "file_uploader(" in script] == ["uploads.py"]
    assert sum(script.count("uploads.field(") for script in scripts.values()) >= 6
