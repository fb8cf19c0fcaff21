"""Addresses of servers by their kind: whether a text is one, and its parts. Nothing here repeats a text that may hold a
password."""

import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit

_MAX_CHARACTERS = 300
_HOST = re.compile(r"[A-Za-z0-9_.:-]+")  # a name, IPv4 or IPv6
_VERSION = re.compile(r"\?api-version=[0-9a-z-]{1,40}$")
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class AddressKind:
    """A kind of address. with_path: more may follow the port; with_port: the port must be named; with_version: an
    api-version may stand at the end, as classic Azure has it."""

    schemes: tuple[str, ...]
    with_path: bool = False
    with_port: bool = False
    with_version: bool = False


ENDPOINT = AddressKind(("http://", "https://"), with_path=True, with_version=True)
CHROMA = AddressKind(("http://", "https://"))
SCHEDULER = AddressKind(("tcp://", "tls://"), with_port=True)


class Fault(Enum):
    """Why a text is no address of its kind. SECRET: a name or a password; MORE: a question mark or a hash sign."""

    SECRET = "secret"
    SCHEME = "scheme"
    TOO_LONG = "too long"
    MORE = "more"
    NO_HOST = "no host"
    INVISIBLE = "invisible"
    NO_PORT = "no port"
    PATH = "path"


@dataclass(frozen=True)
class AddressParts:
    """The parts of an address; host is empty and port None where it names none."""

    scheme: str
    host: str
    port: int | None
    path: str


def parts_of(address: str) -> AddressParts:
    """Return the parts of the address; of a text that is no address, those that can be read."""
    try:
        split = urlsplit(address)
        return AddressParts(split.scheme, split.hostname or "", split.port, split.path)
    except ValueError:  # a port that is no number, half an address of IPv6
        return AddressParts("", "", None, "")


def fault_of(address: str, kind: AddressKind) -> Fault | None:
    """Say why that is no address of the kind; None for an address, and for no text."""
    if not address:
        return None
    parts = parts_of(address)
    authority = address.split("//", 1)[-1].split("/", 1)[0]
    checks = {
        Fault.SECRET: "@" in (authority if kind.with_path else address),
        Fault.SCHEME: not address.startswith(kind.schemes),
        Fault.TOO_LONG: len(address) > _MAX_CHARACTERS,
        Fault.MORE: bool(set(_VERSION.sub("", address) if kind.with_version else address) & set("?#")),
        Fault.NO_HOST: not _HOST.fullmatch(parts.host) or parts.port == 0,
        Fault.INVISIBLE: not address.isprintable() or " " in address,  # tabs, which urlsplit() passes over
        Fault.NO_PORT: kind.with_port and parts.port is None,
        Fault.PATH: not kind.with_path and bool(parts.path.strip("/")),
    }
    return next((fault for fault, holds in checks.items() if holds), None)
