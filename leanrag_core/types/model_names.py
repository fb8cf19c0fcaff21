"""Names of models, as configurations, command line and records write them: "builtin", "reference", "BACKEND:NAME"."""

from dataclasses import dataclass

from leanrag_core.errors import InvalidConfig

BUILTIN = "builtin"
OPENAI = "openai"
REFERENCE = "reference"  # the graph comes with the corpus, written by hand; everything else is built in


@dataclass(frozen=True)
class ModelName:
    """A model. backend: who serves it, a file in models/backends. model: its name there, "" for builtin, reference."""

    backend: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.backend}:{self.model}" if self.model else self.backend


def parse_model_name(text: str) -> ModelName:
    """Return the parts of a model's name. Raises InvalidConfig for a text that is no name."""
    if text in (BUILTIN, REFERENCE):
        return ModelName(text)
    backend, _, model = text.partition(":")
    if not (backend.strip() and model.strip()) or backend in (BUILTIN, REFERENCE):
        raise InvalidConfig("model.unknown", name=text)
    return ModelName(backend, model.strip())


def model_title(text: str) -> str:
    """Return the name without its back-end, as lists show it: NAME for BACKEND:NAME."""
    return text.partition(":")[2] or text


def endpoint_model(model: str) -> str:
    """Return the name of a model of the OpenAI-compatible endpoint; "" for ""."""
    return str(ModelName(OPENAI, model)) if model else ""


def is_remote(text: str) -> bool:
    """Return whether a model of that name is called: not the built-in engine, nor a graph that was written by hand."""
    return ":" in text
