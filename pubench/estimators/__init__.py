"""Registered methods as scikit-learn classifiers over (X, s).

    DataFrame or array -> Table (rows), labels -> s (labels), names -> plugins (parts) -> FittedMethod -> classes

`base` holds what all of them share; `classifier` and `probtagging` are the two that people import from `pubench`.
"""
