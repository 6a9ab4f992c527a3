"""A classifier saved and loaded again."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pubench import DataError, ProbTaggingClassifier, PUClassifier, load_classifier
from pubench.seeds import Seed


def customers() -> tuple[pd.DataFrame, "pd.Series[str]"]:
    generator = Seed(0).generator()
    X = pd.DataFrame({"spend": generator.exponential(size=400), "city": generator.choice(list("abc"), 400)})
    X.loc[::17, "spend"] = np.nan
    wants = (X.spend.fillna(0) > 1.5) & (generator.random(400) < 0.6)
    return X, wants.map({True: "yes", False: "no"})


@pytest.mark.parametrize(
    "classifier",
    [
        ProbTaggingClassifier(learner="lightgbm", n_members=3, random_state=0),
        ProbTaggingClassifier(learner="catboost", n_members=3, combine="ranks", random_state=0),
        PUClassifier("bagging", "logistic", method_params={"members": 5}, random_state=0),
        PUClassifier("pu-auc", random_state=0),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_predictions_are_the_same_in_another_process(classifier: PUClassifier, tmp_path: Path) -> None:
    X, s = customers()
    classifier.fit(X, s).save(tmp_path / "model")
    again = load_classifier(tmp_path / "model")
    assert np.array_equal(again.predict(X), classifier.predict(X))
    assert list(again.classes_) == ["no", "yes"]
    program = (
        "import sys, numpy as np, pandas as pd; from pubench import load_classifier;"
        "p = load_classifier(sys.argv[1]).predict_proba(pd.read_csv(sys.argv[2]));"
        "np.save(sys.argv[3], p)"
    )
    X.to_csv(tmp_path / "X.csv", index=False)
    arguments = [str(tmp_path / name) for name in ("model", "X.csv", "p.npy")]
    subprocess.run([sys.executable, "-c", program, *arguments], check=True)
    expected = classifier.predict_proba(pd.read_csv(tmp_path / "X.csv"))
    assert np.array_equal(np.load(tmp_path / "p.npy"), expected)


def test_other_columns_and_modified_files_are_refused(tmp_path: Path) -> None:
    X, s = customers()
    ProbTaggingClassifier(n_members=2, random_state=0).fit(X, s).save(tmp_path / "model")
    again = load_classifier(tmp_path / "model")
    with pytest.raises(ValueError, match="feature names"):
        again.predict(X.rename(columns={"spend": "spent"}))
    with pytest.raises(AttributeError, match="similarity"):
        _ = again.credibility_
    with pytest.raises(DataError, match="model"):
        ProbTaggingClassifier(n_members=2).fit(X, s).save(tmp_path / "model")
    member = next((tmp_path / "model" / "model").glob("member-000*"))
    member.write_bytes(member.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(DataError, match="not as it was saved"):
        load_classifier(tmp_path / "model")
