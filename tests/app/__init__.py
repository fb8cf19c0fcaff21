"""Tests of the pages. The assertions of drawn.py say what they compared, as those of tests do."""

import pytest

pytest.register_assert_rewrite("tests.app.drawn")
