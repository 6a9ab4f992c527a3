"""Begins a new plugin: a project, or a single file, that works at once."""
