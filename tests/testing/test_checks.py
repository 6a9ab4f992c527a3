"""What plugins of every kind promise: checks of parameters, imports and blindness find those that break it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from pubench.api.plugin import Plugin
from pubench.api.spaces import Choice, Dimension, Float
from pubench.errors import PluginError
from pubench.testing.checks import BLIND_CHECKS, extremes
from pubench.testing.similarities import SimilaritySubject

SOURCE = '''
{imports}
from pubench import Float, Similarity

class Mine(Similarity):
    """Mine."""

    name = "mine"
    space = {{"a": Float(0.0, 1.0, default=0.5, help="{help}")}}

    def fit(self, data, seed, resources):
        {inside}
'''


def mine(tmp_path: Path, *, imports: str = "", inside: str = "...", text: str = "a") -> Any:
    """Return a similarity from a file with these lines in it."""
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.format(imports=imports, inside=inside, help=text))
    spec = spec_from_file_location("mine_under_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["mine_under_test"] = module
    spec.loader.exec_module(module)
    return SimilaritySubject(module.Mine())


def test_a_plain_plugin_passes(tmp_path: Path) -> None:
    subject = mine(tmp_path, imports="import numpy as np", inside="import sklearn.svm")
    for check in BLIND_CHECKS.values():
        assert check(subject) is None


def test_a_parameter_without_help_is_found(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="'a' has a help text"):
        BLIND_CHECKS["parameters"](mine(tmp_path, text=" "))


@pytest.mark.parametrize("line", ["import sklearn.svm", "from scipy import stats", "import pandas as pd"])
def test_heavy_imports_at_the_top_are_found(line: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"mine\.py imports (sklearn|scipy|pandas) at the top"):
        BLIND_CHECKS["imports"](mine(tmp_path, imports=line))


@pytest.mark.parametrize(
    "line",
    [
        "from pubench import Truth",
        "from pubench import aul_pn_score",
        "import pubench.truth",
        "from pubench.truth import Truth as T",
        "from pubench.metrics.supervised import auc",
        "from pubench.metrics import supervised",
        "import pubench; pubench.draw_view",
    ],
)
@pytest.mark.parametrize("place", ["imports", "inside"])
def test_a_plugin_that_could_see_truth_is_found(line: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"cannot see true labels; mine\.py imports pubench\."):
        BLIND_CHECKS["blindness"](mine(tmp_path, **{place: line}))


def test_a_plugin_without_source_is_not_blamed() -> None:
    names: dict[str, Any] = {}
    exec(SOURCE.format(imports="from pubench import Truth", inside="...", help="a"), names)  # noqa: S102 - that is the point
    remark = BLIND_CHECKS["blindness"](SimilaritySubject(names["Mine"]()))
    assert remark is not None
    assert "cannot be read" in remark.text


def test_parameters_that_do_not_come_back_are_found(tmp_path: Path) -> None:
    subject = mine(tmp_path)

    def forgetful(self: Plugin, **params: float) -> None:
        Plugin.__init__(self)
        self._params["a"] = 0.25 if params else 0.5

    type(subject.plugin).__init__ = forgetful
    subject = SimilaritySubject(type(subject.plugin)())
    with pytest.raises(PluginError, match="is equal to the first"):
        BLIND_CHECKS["configuration"](subject)


def test_extremes_are_ends_of_ranges_and_all_choices_with_what_they_need() -> None:
    space: dict[str, Dimension] = {
        "rule": Choice(("x", "y"), default="x"),
        "a": Float(1.0, 2.0, default=1.5, when=("rule", "y")),
    }
    assert list(extremes(space)) == [
        {"rule": "x"},
        {"rule": "y"},
        {"rule": "y", "a": 1.0},
        {"rule": "y", "a": 2.0},
    ]
