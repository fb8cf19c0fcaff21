"""The certificates that connections to endpoints are checked with: read once, and again when they change."""

import os
import shutil
from pathlib import Path

import certifi
import pytest

from leanrag_core.models.connection import tls_context


def test_connections_share_the_certificates_until_other_ones_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tls_context(trust_env=True)
    assert tls_context(trust_env=True) is shared
    assert tls_context(trust_env=False) is not shared
    own_file = Path(shutil.copy(certifi.where(), tmp_path / "own.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(own_file))
    own = tls_context(trust_env=True)
    assert own is not shared
    assert tls_context(trust_env=True) is own
    os.utime(own_file, (1, 1))
    assert tls_context(trust_env=True) is not own
