"""A saved model applied to a file of any size: read in pieces, scored in order, written whole or not at all.

file -> pieces (rows as columns) -> Encoder -> Table -> scores -> ranking (the best N) or all -> writing
"""
