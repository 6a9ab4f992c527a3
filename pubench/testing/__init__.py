"""Checks that plugins keep their contracts, for the authors of plugins.

Each kind has one list of checks. `pubench plugins check` runs it; so do the pytest classes of
`pubench.testing.contracts`, the only module here that knows a test framework.
"""
