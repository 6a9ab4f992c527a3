"""A table with ids, categories, flags, dates and missing values, and a model trained on it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def customers() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    n = 1_500
    income, town = generator.normal(size=n), generator.choice(["Ulm", "Bonn", "Köln"], n)
    wants = income + (town == "Ulm") + generator.normal(size=n) > 2.5
    days = pd.to_timedelta(generator.integers(0, 900, n), "D")
    frame = pd.DataFrame(
        {
            "customer": [f"{i:05d}" for i in range(n)],
            "bought": (wants & (generator.random(n) < 0.6)).astype(int),
            "income": income,
            "visits": generator.integers(0, 20, n),
            "town": town,
            "since": (pd.Timestamp("2020-01-01") + days).astype(str),
            "vip": generator.random(n) < 0.3,
        }
    )
    for name in ("income", "town", "since"):
        frame.loc[generator.random(n) < 0.1, name] = None
    return frame


@pytest.fixture
def table(customers: pd.DataFrame, tmp_path: Path) -> Path:
    """The table as a CSV file."""
    path = tmp_path / "customers.csv"
    customers.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def saved(customers: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on it; tests only read it."""
    from click.testing import CliRunner  # noqa: PLC0415 - only tests of models need it

    from pubench.cli.main import main  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("saved")
    customers.to_csv(folder / "customers.csv", index=False)
    arguments = ["fit", "--dataset", folder / "customers.csv", "--label", "bought", "--id", "customer"]
    options = [
        "--set",
        "method.members=5",
        "--set",
        "learner.trees=20",
        "--device",
        "cpu",
        "--out",
        folder / "run",
    ]
    result = CliRunner().invoke(main, [*map(str, arguments), *map(str, options)])
    assert result.exit_code == 0, result.output
    return folder / "run"
