"""Scaling as a step of its own: any table becomes one in which Euclidean distances are meaningful.

    Table -> scalings (one numeric column) -> columns (one feature of any kind) -> embedding (the whole table)

Each of them writes what it fitted as JSON, and reads it back.
"""

from pubench.embedding.embedding import Embedding as Embedding
from pubench.embedding.embedding import FittedEmbedding as FittedEmbedding
