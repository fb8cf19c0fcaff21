import pytest

from leanrag_core.system.addresses import (
    CHROMA,
    ENDPOINT,
    SCHEDULER,
    AddressKind,
    AddressParts,
    Fault,
    fault_of,
    parts_of,
)


@pytest.mark.parametrize(
    ("address", "kind", "fault"),
    [
        ("", ENDPOINT, None),
        ("http://localhost:11434/v1", ENDPOINT, None),
        ("https://[::1]:8000", CHROMA, None),
        ("tls://head:8786", SCHEDULER, None),
        ("ada:secret@head/v1", ENDPOINT, Fault.SECRET),
        ("http://head/v1/@", ENDPOINT, None),
        ("http://head:8000/@", CHROMA, Fault.SECRET),
        ("ftp://head", ENDPOINT, Fault.SCHEME),
        ("http://head/" + "v1" * 200, ENDPOINT, Fault.TOO_LONG),
        ("http://head/v1?key=1", ENDPOINT, Fault.MORE),
        ("http://", ENDPOINT, Fault.NO_HOST),
        ("http://head:0", CHROMA, Fault.NO_HOST),
        ("http://head:none", CHROMA, Fault.NO_HOST),
        ("http://[::1", CHROMA, Fault.NO_HOST),
        ("http://he\tad:8000", CHROMA, Fault.INVISIBLE),
        ("tcp://head", SCHEDULER, Fault.NO_PORT),
        ("http://head:8000/api", CHROMA, Fault.PATH),
    ],
)
def test_what_is_wrong_with_an_address_is_reported_by_kind(
    address: str, kind: AddressKind, fault: Fault | None
) -> None:
    assert fault_of(address, kind) is fault


def test_a_text_that_is_no_address_has_no_parts() -> None:
    assert parts_of("https://Head:8000/v1") == AddressParts("https", "head", 8000, "/v1")
    assert parts_of("http://head:none") == AddressParts("", "", None, "")
