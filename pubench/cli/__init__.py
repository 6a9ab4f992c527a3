"""The command line: each command parses, makes one call and renders. Only `render/` knows rich.

Command modules import nothing heavy at the top, so that `pubench --help` answers at once.
"""
