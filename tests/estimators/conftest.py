"""A PU table with every kind of column."""

import numpy as np
import pandas as pd
import pytest

from pubench.types import BoolVector


@pytest.fixture(scope="session")
def bought() -> tuple[pd.DataFrame, BoolVector]:
    """1,200 customers, a tenth of them positive and half of these labelled, with every kind of column."""
    generator = np.random.default_rng(0)
    rows = 1200
    wants = generator.random(rows) < 0.1
    home = generator.choice(["Bern", "Cork"], rows)
    X = pd.DataFrame(
        {
            "amount": generator.normal(2.5 * wants),
            "noise": generator.normal(size=rows),
            "city": np.where(wants & (generator.random(rows) < 0.6), "Athens", home),
            "segment": pd.Categorical(generator.choice([1, 2, 3], rows)),
            "flag": generator.random(rows) < 0.3 + 0.4 * wants,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 900, rows), "D"),
        }
    )
    X.loc[::9, "amount"] = np.nan
    X.loc[::11, "city"] = None
    return X, wants & (generator.random(rows) < 0.5)
