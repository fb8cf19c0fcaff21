import subprocess
import sys

SLOW = (
    "sklearn",
    "chromadb",
    "openai",
    "spacy",
    "streamlit",
    "pandas",
    "onnxruntime",
    "rjieba",
    "fastapi",
    "mcp",
    "uvicorn",
)


def test_importing_the_core_loads_no_slow_library() -> None:
    code = f"import leanrag_core, sys; print([name for name in {SLOW!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
