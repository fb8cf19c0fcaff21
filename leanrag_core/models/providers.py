"""Providers of models: where they are asked, and which variable usually holds their key. They are data:
assets/providers.json."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import from_json
from leanrag_core.types.roles import RERANKING, Role


@dataclass(frozen=True)
class Provider:
    """name: on the command line; title: a proper name. rerank_form: of its reranking, "" where it has none. only: the
    one role that the address serves, "" for all."""

    name: str
    title: str
    address: str
    key_variable: str = ""
    rerank_form: str = ""
    only: str = ""

    def serves(self, role: str) -> bool:
        """Return whether that role can be asked there."""
        return bool(self.rerank_form) if role == RERANKING else not self.only

    def role(self, role: str) -> Role:
        """Return how that role is asked there."""
        plain_role = Role(self.address, self.key_variable)
        return replace(plain_role, rerank_form=self.rerank_form) if role == RERANKING else plain_role


@cache
def providers() -> tuple[Provider, ...]:
    """Return the providers, hosted ones first."""
    content = files("leanrag_core.models").joinpath("assets", "providers.json").read_bytes()
    return from_json(tuple[Provider, ...], content, name="providers.json")


def provider(name: str, role: str) -> Provider:
    """Return the provider of that name for the role. Raises InvalidConfig."""
    known = {each.name: each for each in providers() if each.serves(role)}
    if name not in known:
        raise InvalidConfig("role.unknown_provider", provider=name, known=", ".join(known))
    return known[name]
