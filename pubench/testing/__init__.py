"""Checks that plugins keep their promises: for the authors of plugins, free of any test framework."""
