"""Suite files: what they state is taken as it is, and what is not known is refused."""

from pathlib import Path

import pytest

from pubench.bench.suite_file import find_suite, read_suite, shipped_suites
from pubench.errors import DataError, InputError

SMALL = '[[jobs]]\ndatasets = ["a"]\nmethods = ["b"]\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_suite_is_read_as_it_is_written(tmp_path: Path) -> None:
    text = """
    title = "Mine"
    metrics = ["auc"]
    limits = { minutes = 1.5, memory_gib = 2 }
    [[jobs]]
    datasets = ["a", "b"]
    methods = "m"
    theta_o = [0.5, 0.1]
    rows = 100
    folds = 5
    seeds = [3, 4]
    trials = 7
    labelling = { mechanism = "feature", feature = "x" }
    [jobs.parameters.method.m]
    members = [2, 3]
    [paper.a.m]
    auc = 0.9
    """
    suite = read_suite(written(tmp_path, text))
    (jobs,) = suite.jobs
    assert (suite.name, suite.title, suite.metrics) == ("mine", "Mine", ("auc",))
    assert (suite.limits.minutes, suite.limits.memory_gib) == (1.5, 2.0)
    assert (jobs.datasets, jobs.methods, jobs.theta_o) == (("a", "b"), ("m",), (0.5, 0.1))
    assert (jobs.rows, jobs.folds, jobs.seeds, jobs.trials) == (100, 5, (3, 4), 7)
    assert jobs.labelling == {"mechanism": "feature", "feature": "x"}
    assert jobs.parameters == {"method": {"m": {"members": [2, 3]}}}
    assert suite.paper == {"a": {"m": {"auc": 0.9}}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = ", "is not TOML"),
        ("", "at least one block"),
        ("jobs = 3", "at least one block"),
        ("jobs = [3]", "'jobs' must be a table"),
        (f"{SMALL}fold = 3", "has no key 'fold'.*Did you mean 'folds'"),
        (f"titel = 1\n{SMALL}", "has no key 'titel'.*Did you mean 'title'"),
        (f"limits = {{ hours = 1 }}\n{SMALL}", "no key 'hours'"),
        (f"limits = {{ minutes = 0 }}\n{SMALL}", "'minutes' is a number above 0"),
        (f"metrics = ['f1']\n{SMALL}", "'metrics' is one of"),
        (f"missing_data = 'maybe'\n{SMALL}", "'missing_data' is one of"),
        (f"{SMALL}theta_o = 2", "'theta_o' is a number above 0 and up to 1"),
        (f"{SMALL}theta_o = true", "'theta_o' is a number"),
        (f"{SMALL}folds = 1", "'folds' is a whole number from 2"),
        (f"{SMALL}seeds = [-1]", "'seeds' is a whole number from 0"),
        (f"{SMALL}rows = 1.5", "'rows' is a whole number"),
        (f"{SMALL}labelling = {{ bias = 'x' }}", "no key 'bias'"),
        (f"{SMALL}parameters = {{ dataset = {{}} }}", "no key 'dataset'"),
        (f"{SMALL}parameters = {{ method = {{ b = 3 }} }}", "'b' must be a table"),
        ('[[jobs]]\ndatasets = ["a"]', "lists its methods"),
        ('[[jobs]]\ndatasets = ["../etc/passwd"]\nmethods = ["b"]', "is not a name"),
        (f"{SMALL}[paper.a.b]\nf1 = 0.5", "no key 'f1'"),
        (f"{SMALL}[paper.a.b]\nauc = 5", "'auc' is a number"),
        (f"{SMALL}[[figures]]\nname = 'x'\nkind = 'pie'\ndataset = 'a'", "'kind' is one of"),
    ],
)
def test_what_is_not_known_or_wrong_is_refused_in_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_suite(written(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_every_suite_that_is_shipped_can_be_read() -> None:
    suites = {path.stem: read_suite(path) for path in shipped_suites()}
    tables = {"paper-table2", "paper-table3", "paper-fig1", "paper-fig2", "paper-fig3"}
    assert set(suites) >= {*tables, "smoke", "real", "tuned", "development"}
    assert all(suite.title != name for name, suite in suites.items())


def test_the_paper_s_figures_are_those_of_its_tables() -> None:
    table2, table3 = find_suite("paper-table2"), find_suite("paper-table3")
    assert table2.paper["bank1"]["probtagging"] == {"aul_pu": 0.6082}
    assert table2.paper["bank3"]["pu-auc"] == {"aul_pu": 0.5533}
    assert table3.paper["creditcard"]["probtagging"] == {"auc": 0.9757, "aul_pu": 0.9794}
    assert table3.paper["aps-part"]["nnpu"] == {"auc": 0.9233, "aul_pu": 0.9271}
    assert [jobs.folds for jobs in table3.jobs] == [5, 3]


def test_a_suite_that_is_not_there_suggests_one() -> None:
    with pytest.raises(InputError, match="Did you mean 'smoke'"):
        find_suite("smokes")
