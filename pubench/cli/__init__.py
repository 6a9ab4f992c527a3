"""The command line: each command parses, makes one call and prints the result. Only `render/` uses rich.

Command modules import nothing heavy at the top, so that `pubench --help` is fast.
"""
