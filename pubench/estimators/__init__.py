"""Registered methods as scikit-learn classifiers over (X, s).

`classifiers` has the classes that users import from `pubench`, `base` what they share, and `inputs` turns arrays,
DataFrames and labels into tables and labelled rows.
"""
