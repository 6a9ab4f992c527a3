"""Times `pubench predict` and the learner's own predict calls on the same rows, and prints the ratio.

A model of 50 LightGBM members is trained on a sample of bank1, which determines the form of the trees but not the time per
row, and saved. Then a Parquet file of all rows is scored from disk to disk: reading, encoding, scoring, writing. The
reference is the sum of the members' predict calls, each on the whole table in memory. Both run alternately; the best
time of each counts. The limit is a ratio of 1.1.
"""

import argparse
import resource
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pubench import FittedEnsemble, PUData, Resources, Seed, Table
from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.model.predict import PredictRequest, score_file
from pubench.model.saved import SavedModel, Trained, load_model, save_model
from pubench.system.machine import cores

TRAINING_ROWS = 50_000


def train(folder: Path, members: int, registry: Registry, resources: Resources) -> SavedModel:
    """Train on a draw of bank1, save and load."""
    dataset = open_dataset(DatasetRequest("bank1", rows=TRAINING_ROWS), registry).dataset
    data = PUData(dataset.X, dataset.labels)
    named = {
        Kind.METHOD: PluginSpec("probtagging", {"members": members}),
        Kind.SIMILARITY: PluginSpec("knn"),
        Kind.LEARNER: PluginSpec("lightgbm"),
    }
    configuration = configure(named, registry)
    fitted = configuration.method.fit(data, configuration.parts, Seed(0), resources)
    save_model(folder, Trained.on(data, fitted, configuration, Seed(0), resources))
    return load_model(folder, registry)


def write(X: Table, path: Path) -> None:
    """Write a table as people have it: categories as text."""
    columns = {}
    for number, feature in enumerate(X.features):
        values: Any = X.values[:, number]
        if feature.kind == "categorical":
            texts = np.array([*feature.categories, None], dtype=object)
            values = texts[np.where(np.isnan(values), len(feature.categories), values).astype(int)]
        columns[feature.name] = pa.array(values)
    pq.write_table(pa.table(columns), path)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds it takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def compare(model: SavedModel, X: Table, folder: Path, resources: Resources, repeats: int) -> None:
    """Print both times, their ratio and the peak memory."""
    if not isinstance(model.fitted, FittedEnsemble):
        raise SystemExit("The model is not an ensemble.")
    members = model.fitted.ensemble.members
    path, out = folder / "rows.parquet", folder / "scores.parquet"
    write(X, path)
    raw, whole = [], []
    for _ in range(repeats):
        raw.append(sum(timed(lambda: member.predict(X, resources)) for member in members))  # noqa: B023
        whole.append(timed(lambda: score_file(model, PredictRequest(path, out), resources)))
    scores = pq.read_table(out)["score"].to_numpy()
    same = np.array_equal(scores, model.score(X, resources).values)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{X.n_rows:,} x {X.n_features}, {len(members)} members, {resources.n_threads} threads")
    print(f"sum of the members' predict calls  {min(raw):8.2f} s")
    print(f"from Parquet file to Parquet file  {min(whole):8.2f} s")
    print(f"ratio {min(whole) / min(raw):.3f} (bound 1.1), scores equal: {same}, peak memory {peak:.1f} GiB")


def main() -> None:
    """Parse, train, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_365_550)
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    registry, resources = load_registry(), Resources(n_threads=options.threads)
    with TemporaryDirectory() as name:
        folder = Path(name)
        model = train(folder / "model", options.members, registry, resources)
        X = open_dataset(DatasetRequest("bank1", rows=options.rows), registry).dataset.X
        compare(model, X, folder, resources, options.repeats)


if __name__ == "__main__":
    main()
