"""Cross-fitting: scores of rows by models that were not trained on them.

Rows -> folds -> what folds share, computed once (`fold_cache`) -> each fold scored by a model of the others (`cross_fit`)

A search judges configurations with it; a blend learns from it on which scale its members score rows that they do not know;
and rows that a model was trained on get honest scores from it.
"""
