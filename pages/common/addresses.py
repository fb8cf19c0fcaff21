"""Fields that take the address of a server: what is said of a text that is none, without repeating it."""

import re
from dataclasses import dataclass

from leanrag_core.system import addresses
from leanrag_core.system.addresses import AddressKind, Fault
from pages.common.messages import say

_HARMLESS = re.compile(  # what is no address yet, but no secret either: localhost:1234/v1, api.example.com/v1, http://
    r"((https?|tcp|tls)://|((https?|tcp|tls)://)?"
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|[A-Za-z0-9-]{1,40}(\.[A-Za-z0-9-]{1,40})*\.[a-z]{2,10}))"
    r"(:\d{1,5})?(/[a-z]{1,12}\d{0,2}){0,3}/?"
)
_BARE_NAME = re.compile(r"(tcp|tls)://[a-z][a-z0-9-]{0,30}|[a-z][a-z0-9-]{0,30}:878[67]")  # tcp://head, head:8786
_TEXTS = {
    Fault.SECRET: "settings.address.secret",
    Fault.SCHEME: "settings.address.scheme",
    Fault.TOO_LONG: "settings.address.too_long",
    Fault.MORE: "settings.address.more",
    Fault.NO_HOST: "settings.address.no_host",
    Fault.INVISIBLE: "settings.address.invisible",
    Fault.NO_PORT: "settings.address.no_port",
    Fault.PATH: "settings.address.path",
}


@dataclass(frozen=True)
class AddressField:
    """A field for an address of a kind. ends_at: what the address is written up to; instead: where a password goes;
    both are codes of the catalog."""

    kind: AddressKind
    example: str
    ends_at: str
    instead: str


ENDPOINT = AddressField(
    addresses.ENDPOINT,
    "http://localhost:11434/v1",
    ends_at="settings.address.up_to_v1",
    instead="settings.address.instead.endpoint",
)
CHROMA = AddressField(
    addresses.CHROMA,
    "http://127.0.0.1:8000",
    ends_at="settings.address.up_to_port",
    instead="settings.address.instead.chroma",
)
SCHEDULER = AddressField(
    addresses.SCHEDULER,
    "tcp://10.0.0.1:8786",
    ends_at="settings.address.up_to_port",
    instead="settings.address.instead.scheduler",
)


def tidied(text: str, field: AddressField) -> str:
    """The text without spaces around it, and without a last slash where the kind has no path."""
    text = text.strip()
    return text if field.kind.with_path else re.sub(r"([^/:])/+$", r"\1", text)


def fault_text(address: str, field: AddressField) -> str:
    """Why that is no address for the field, without repeating it; empty when it is one, or empty."""
    fault = addresses.fault_of(address, field.kind)
    if fault is None:
        return ""
    schemes = say("settings.address.or").join(field.kind.schemes)
    ends_at, instead = say(field.ends_at), say(field.instead)
    return say(_TEXTS[fault], schemes=schemes, example=field.example, ends_at=ends_at, instead=instead)


def is_harmless(text: str, field: AddressField) -> bool:
    """Whether a text that is no address may stay on the page to be corrected, since it looks like no secret."""
    return bool(_HARMLESS.fullmatch(text) or (field.kind.with_port and _BARE_NAME.fullmatch(text)))
