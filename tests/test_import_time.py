import subprocess
import sys
from collections.abc import Iterable

from leanrag_core.__main__ import command_parser
from leanrag_core.commands import families

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


def test_a_verb_is_found_in_its_own_file_and_no_other_is_loaded() -> None:
    verbs = list(choices(""))
    assert len(verbs) > 30
    for verb in verbs:
        assert len(list(families(verb))) == 1, f"no file is called {verb}: name its file in leanrag_core/commands"
        assert verb in choices(verb)
    code = "import sys; sys.argv[1:] = ['run-job', 'no-folder']; from leanrag_core.__main__ import command_parser; "
    code += (
        "command_parser('run-job'); print([name for name in sys.modules if name.startswith('leanrag_core.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['leanrag_core.commands.run_job']"


def choices(verb: str) -> Iterable[str]:
    """Return the verbs that the parser of that verb knows."""
    [added] = [action for action in command_parser(verb)._actions if action.dest == "verb"]
    return added.choices or ()
