"""Fields that take the address of a server: what is said of a text that is none, without repeating it."""

import re
from dataclasses import dataclass

from leanrag_core import addresses
from leanrag_core.addresses import AddressKind, Fault

_HARMLESS = re.compile(  # what is no address yet, but no secret either: localhost:1234/v1, api.example.com/v1, http://
    r"((https?|tcp|tls)://|((https?|tcp|tls)://)?"
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|[A-Za-z0-9-]{1,40}(\.[A-Za-z0-9-]{1,40})*\.[a-z]{2,10}))"
    r"(:\d{1,5})?(/[a-z]{1,12}\d{0,2}){0,3}/?"
)
_BARE_NAME = re.compile(r"(tcp|tls)://[a-z][a-z0-9-]{0,30}|[a-z][a-z0-9-]{0,30}:878[67]")  # tcp://head, head:8786
_TEXTS = {
    Fault.SECRET: "the address contains a name or a password: {instead}",
    Fault.SCHEME: "an address begins with {schemes}, such as {example}",
    Fault.TOO_LONG: "the address is too long",
    Fault.MORE: "the address contains a question mark or a hash sign: enter it up to {ends_at} alone",
    Fault.NO_HOST: "the address names no server: write it as in {example}",
    Fault.INVISIBLE: "the address contains a space or an invisible character: enter it again",
    Fault.NO_PORT: "the address names no port: write it as in {example}",
    Fault.PATH: "something follows the port: write the address as in {example}",
}


@dataclass(frozen=True)
class AddressField:
    """A field for an address of a kind. ends_at: what the address is written up to; instead: where a password goes."""

    kind: AddressKind
    example: str
    ends_at: str
    instead: str


ENDPOINT = AddressField(
    addresses.ENDPOINT,
    "http://localhost:11434/v1",
    ends_at="/v1",
    instead="take it out, and put the key into the environment",
)
CHROMA = AddressField(
    addresses.CHROMA,
    "http://127.0.0.1:8000",
    ends_at="its port",
    instead="take it out; the server knows none, and a private network keeps others away",
)
SCHEDULER = AddressField(
    addresses.SCHEDULER,
    "tcp://10.0.0.1:8786",
    ends_at="its port",
    instead="take it out; a scheduler knows none, and certificates keep others away",
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
    schemes = " or ".join(field.kind.schemes)
    return _TEXTS[fault].format(schemes=schemes, example=field.example, ends_at=field.ends_at, instead=field.instead)


def is_harmless(text: str, field: AddressField) -> bool:
    """Whether a text that is no address may stay on the page to be corrected, since it looks like no secret."""
    return bool(_HARMLESS.fullmatch(text) or (field.kind.with_port and _BARE_NAME.fullmatch(text)))
