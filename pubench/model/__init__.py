"""Trained models in folders: written whole or not at all, verified before any library opens a file of them.

    FOLDER/manifest.json    what it is, and size and SHA-256 of every other file
           config.toml      the plugins and their parameters, for `pubench fit --config`
           model/           what the method wrote, in the learner's own format; of a blend, a folder for each part
           evidence/        the labelled positives as embedded points

Nothing is pickled, and nothing in a folder is run.
"""
