"""Compares mahalanobis with knn, as similarities of ProbTagging: AUL_PU on rows held out, and seconds to fit.

    PUBENCH_DATA=folder python compare.py mammography optdigits

Prints the table of the README. Half of the positives are labelled; five times a quarter of the rows is
held out.
"""

import sys
import time
from typing import Any

import numpy as np
from pubench import (
    Embedding,
    Kind,
    Labelling,
    ProbTaggingClassifier,
    PUData,
    Resources,
    Seed,
    Similarity,
    aul_pu_score,
    draw_view,
    holdout,
)
from pubench.api.registry import load_registry
from pubench.data.sources import DatasetRequest, open_dataset

from pubench_mahalanobis import Mahalanobis

SPLITS = 5
THREADS = 2


def view_of(name: str) -> PUData:
    """Return a data set with half of its positives labelled."""
    dataset = open_dataset(DatasetRequest(name), load_registry()).dataset
    if dataset.truth is None:
        raise SystemExit(f"{name} has no true labels to draw a view from.")
    return draw_view(dataset.X, dataset.truth, Labelling(0.5), Seed(0)).data


def quality(similarity: Similarity, data: PUData) -> list[float]:
    """Return the AUL_PU on the rows held out, one per split."""
    found = []
    for number in range(SPLITS):
        split = holdout(data.s, 0.25, Seed(number))
        train, test = data.take(split.train), data.take(split.test)
        classifier = ProbTaggingClassifier(similarity, n_members=20, n_jobs=THREADS, random_state=number)
        scores = classifier.fit(train.X.values, train.s).predict_proba(test.X.values)[:, 1]
        found.append(aul_pu_score(test.s, scores))
    return found


def seconds(similarity: Similarity, data: PUData) -> float:
    """Return the seconds of the second of two fits: the first one loads and compiles."""
    embedded = PUData(Embedding().fit(data.X).transform(data.X), data.s)
    for _ in range(2):
        began = time.perf_counter()
        _ = similarity.fit(embedded, Seed(0), Resources(n_threads=THREADS)).affinity
        taken = time.perf_counter() - began
    return taken


def main(names: list[str]) -> None:
    """Print a table of both similarities on each data set."""
    knn: Any = load_registry().find("knn", Kind.SIMILARITY).plugin()
    print("| data set | rows | labelled | similarity | AUL_PU | seconds |")
    print("|---|---|---|---|---|---|")
    for name in names:
        data = view_of(name)
        results = {
            plugin.name: (quality(plugin, data), seconds(plugin, data)) for plugin in (knn, Mahalanobis())
        }
        for label, (values, time_taken) in results.items():
            print(
                f"| {name} | {data.X.n_rows:,} | {data.n_labelled:,} | {label} "
                f"| {np.mean(values):.4f} | {time_taken:.2f} |"
            )
        gaps = np.subtract(results["mahalanobis"][0], results["knn"][0])
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        print(f"| | | | difference | {gaps.mean():+.4f} ± {error:.4f} | |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["mammography"])
