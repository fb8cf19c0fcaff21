"""Every field for uploads has its words in the reader's language."""

from pathlib import Path

import pages


def test_no_field_for_uploads_keeps_the_english_words_of_streamlit() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in Path(pages.__path__[0]).rglob("*.py")]
    fields = [script.count("st.file_uploader(") for script in scripts]
    assert sum(fields) >= 7
    assert [script.count("uploads.translate(") for script in scripts] == fields
