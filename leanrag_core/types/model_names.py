"""Names of models, as configurations, command line and records write them: "builtin", or "BACKEND:NAME"."""

from dataclasses import dataclass

from leanrag_core.errors import InvalidConfig

BUILTIN = "builtin"
OPENAI = "openai"


@dataclass(frozen=True)
class ModelName:
    """A model: the back-end that serves it (a file in models/backends) and its name there, "" for builtin."""

    backend: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.backend}:{self.model}" if self.model else self.backend


def parse_model_name(text: str) -> ModelName:
    """The parts of a model's name. Raises InvalidConfig for a text that is no name."""
    if text == BUILTIN:
        return ModelName(BUILTIN)
    backend, _, model = text.partition(":")
    if not (backend.strip() and model.strip()) or backend == BUILTIN:
        raise InvalidConfig("model.unknown", name=text)
    return ModelName(backend, model.strip())


def model_title(text: str) -> str:
    """The name without its back-end, as lists show it: NAME for BACKEND:NAME."""
    return text.partition(":")[2] or text


def endpoint_model(model: str) -> str:
    """The name of a model of the OpenAI-compatible endpoint; "" for ""."""
    return str(ModelName(OPENAI, model)) if model else ""


def is_remote(text: str) -> bool:
    """Whether a back-end other than the built-in one serves the model of that name."""
    return ":" in text
