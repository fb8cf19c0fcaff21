"""The text that stands for an entity in the embedding space."""


def embedding_text(name: str, description: str) -> str:
    """Return the text that is embedded for an entity (eq. 3): its name, then its description.

    The paper embeds the description alone; entities that share one source sentence would then share one vector.
    """
    return f"{name}. {description}"
