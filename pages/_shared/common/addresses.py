"""What an address of a server looks like, by the kind of server; why a text is none, without repeating it."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_LONGEST = 300  # characters of an address
_HOST = re.compile(r"[A-Za-z0-9_.:-]+")  # of a name, of IPv4, of IPv6
_HARMLESS = re.compile(  # what is no address yet, but no secret either: localhost:1234/v1, api.example.com/v1, http://
    r"((https?|tcp|tls)://|((https?|tcp|tls)://)?"
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|[A-Za-z0-9-]{1,40}(\.[A-Za-z0-9-]{1,40})*\.[a-z]{2,10}))"
    r"(:\d{1,5})?(/[a-z]{1,12}\d{0,2}){0,3}/?"
)
_BARE_NAME = re.compile(r"(tcp|tls)://[a-z][a-z0-9-]{0,30}|[a-z][a-z0-9-]{0,30}:878[67]")  # tcp://head, head:8786


@dataclass(frozen=True)
class Kind:
    """A kind of address. schemes: how it begins; ends_at: what it is written up to; instead: where a password goes;
    with_path: more may follow the port; with_port: the port must be named."""

    schemes: tuple[str, ...]
    example: str
    ends_at: str
    instead: str
    with_path: bool = False
    with_port: bool = False


ENDPOINT = Kind(
    ("http://", "https://"),
    "http://localhost:11434/v1",
    ends_at="/v1",
    instead="take it out, and put the key into the environment",
    with_path=True,
)
CHROMA = Kind(
    ("http://", "https://"),
    "http://127.0.0.1:8000",
    ends_at="its port",
    instead="take it out; the server knows none, and a private network keeps others away",
)
SCHEDULER = Kind(
    ("tcp://", "tls://"),
    "tcp://10.0.0.1:8786",
    ends_at="its port",
    instead="take it out; a scheduler knows none, and certificates keep others away",
    with_port=True,
)


def tidied(text: str, kind: Kind) -> str:
    """The text without spaces around it, and without a last slash where the kind has no path."""
    text = text.strip()
    return text if kind.with_path else re.sub(r"([^/:])/+$", r"\1", text)


def fault_of_address(address: str, kind: Kind) -> str:
    """Why that is no address of the kind, without repeating it; empty when it is one, or empty."""
    if not address:
        return ""
    if not address.startswith(kind.schemes):
        return f"an address begins with {' or '.join(kind.schemes)}, such as {kind.example}"
    if len(address) > _LONGEST:
        return "the address is too long"
    if set(address) & set("?#"):
        return f"the address contains a question mark or a hash sign: enter it up to {kind.ends_at} alone"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # a port that is none, half an address of IPv6
        host, port = "", None
    if "@" in _authority(address):
        return f"the address contains a name or a password: {kind.instead}"
    if not _HOST.fullmatch(host) or port == 0:
        return f"the address names no server: write it as in {kind.example}"
    if not address.isprintable() or " " in address:  # tabs, which urlsplit() passes over
        return "the address contains a space or an invisible character: enter it again"
    if kind.with_port and port is None:
        return f"the address names no port: write it as in {kind.example}"
    if not kind.with_path and parts.path.strip("/"):
        return f"something follows the port: write the address as in {kind.example}"
    return ""


def is_harmless(text: str, kind: Kind) -> bool:
    """Whether a text that is no address may stay on the page to be mended, being no secret by its looks."""
    return bool(_HARMLESS.fullmatch(text) or (kind.with_port and _BARE_NAME.fullmatch(text)))


def _authority(address: str) -> str:
    """The part of an address between // and the path: host, port, and a name or password if there is one."""
    return address.split("//", 1)[-1].split("/", 1)[0]
