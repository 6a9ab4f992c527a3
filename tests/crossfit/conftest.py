"""Rows and a toy method, shared with the tests of tuning."""

from tests.tuning.conftest import data, registry, toy_file

__all__ = ["data", "registry", "toy_file"]
