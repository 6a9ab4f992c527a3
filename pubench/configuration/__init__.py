"""Configurations: which plugins make a model, with which parameters.

`configuration` goes from names to plugin objects and blends; `toml` reads and writes both as TOML.
"""
