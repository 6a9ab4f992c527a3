"""What a plugin sees: the contracts, the values around them, and how plugins are found and registered.

    spaces (parameters) -> plugin (Similarity, Learner) -> trainer (Ensemble) -> method, dataset
    hookspecs <- discovery -> registry (names -> plugins)

Plugin authors import these names from `pubench` itself.
"""
