"""The page shows the values of the report in valid HTML, whatever the result of the run."""

from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pubench.decision.hidden_positives import Withheld
from pubench.errors import DataError
from pubench.html import numbers
from pubench.html.markup import VOID
from pubench.neighbors.k_choice import choose_k
from pubench.report.page import report_page, write_report
from pubench.report.values import NeighbourCurve, Report, ReportSubject, make_report
from pubench.tuning.ensemble_selection import Gain
from pubench.tuning.final_models import TUNED
from pubench.tuning.model_choice import ModelChoice
from pubench.tuning.standings import Role
from pubench.tuning.trial import Trial
from pubench.types import Status

HOSTILE = "<script>alert(1)</script>"
SECTIONS = ["leaderboard", "calls", "lift", "search", "parameters", "features", "neighbours", "data", "again"]


class Page(HTMLParser):
    """A parsed page; parsing fails on an end tag that does not match."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.within: list[tuple[str | None, str]] = []
        self._section: str | None = None
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self._section = dict(attrs)["id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "section":
            self._section = None

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)
            self.within.append((self._section, data))

    def text(self, section: str | None = None) -> str:
        return " ".join(data for where, data in self.within if section in (None, where))

    def ids(self) -> Iterator[str]:
        return (str(attributes["id"]) for _, attributes in self.tags if "id" in attributes)


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(report_page(report))


def sections(page: Page) -> list[str]:
    return [str(attributes["id"]) for tag, attributes in page.tags if tag == "section"]


def test_every_section_is_there_and_linked(page: Page) -> None:
    assert sections(page) == SECTIONS
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == [f"#{anchor}" for anchor in SECTIONS]
    ids = list(page.ids())
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing(page: Page) -> None:
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed"}
    addresses = [
        attributes.get(name) for _, attributes in page.tags for name in ("src", "href", "xlink:href")
    ]
    assert all(address is None or address.startswith("#") for address in addresses)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_the_header_shows_the_data_set_and_the_result(page: Page, report: Report) -> None:
    shown, interval = page.text(), report.result.holdout.contenders[TUNED].interval
    assert "16 November 2026" in shown
    assert "synthetic stand-in" in shown
    assert report.result.conclusion.finding in page.texts
    assert f"{interval.estimate:.4f}" in page.texts
    assert f"95% interval [{interval.low:.4f}, {interval.high:.4f}]" in page.texts
    assert f"{interval.n_labelled} labelled positives among {len(report.s)} rows" in page.texts


def test_the_leaderboard_has_every_value(page: Page, report: Report) -> None:
    shown = page.text("leaderboard")
    for standing in report.result.standings:
        interval, comparison = standing.interval, standing.comparison
        if interval is not None:
            assert f"{interval.estimate:.4f} [{interval.low:.4f}, {interval.high:.4f}]" in shown
        if comparison is not None:
            assert f"{comparison.difference:+.4f} [{comparison.low:+.4f}, {comparison.high:+.4f}]" in shown
    names = [f"{rank}. {name}" for rank, name in enumerate(("The model", "Default", "naive", "bagging"), 1)]
    assert sum(name.partition(" ")[2] in shown for name in names) == 4
    assert "liu (baseline, timeout): It was late." in shown
    assert f"Score of the search: {report.result.choice.value:.4f}." in shown
    assert "optimistic" in shown


def test_the_call_table_has_every_value_with_its_range(page: Page, report: Report) -> None:
    shown, calls = page.text("calls"), report.result.call_table
    assert [row.rows for row in calls.rows][:2] == [14, 50]
    for row in calls.rows:
        assert row.positives is not None
        assert row.precision is not None
        assert f"{row.rows:,} rows {numbers.percent(row.share)} of the unlabeled" in shown
        for value, form in (
            (row.lift, numbers.decimal),
            (row.found, numbers.percent),
            (row.positives, numbers.whole),
            (row.precision, numbers.percent),
        ):
            assert f"{form(value.estimate)} {numbers.between(value.low, value.high, form)}" in shown
    assert f"Hidden positives: {report.result.hidden.in_words}" in shown.replace("  ", " ")
    assert "pubench predict 'my runs' FILE --unlabeled-only --top 50 --out calls.csv" in shown


def test_where_to_stop_and_the_reliability_of_probabilities_are_shown(page: Page, report: Report) -> None:
    assert report.result.profit is not None
    assert report.result.profit.sentence in page.texts
    assert len(report.reliability) == 2
    labels = [str(attributes.get("aria-label")) for tag, attributes in page.tags if tag == "svg"]
    assert any(label.startswith("Reliability: ") for label in labels)


def test_without_a_prior_it_is_said_what_is_missing_and_lift_stands_alone(report: Report) -> None:
    reason = "Two estimates disagree."
    bare = replace(report.result, hidden=Withheld(reason))
    shown = Page(report_page(make_report(report.subject, report.provenance, bare, {}))).text("calls")
    assert "How many positives that makes is not known." in shown
    assert reason in shown
    assert "--prior P" in shown
    assert f"{numbers.decimal(bare.call_table.rows[0].lift.estimate)} " in shown
    assert "Where to stop calling rests on the number of hidden positives" in shown
    for absent in ("Precision", "Best cut", "Are the probabilities right?"):
        assert absent not in shown


def test_a_model_that_is_the_default_is_named_as_such(report: Report) -> None:
    result = report.result
    model = replace(result.model, role=Role.DEFAULT)
    alone = replace(result, model=model, others=result.others[1:])
    shown = Page(report_page(replace(report, result=alone))).text("leaderboard")
    assert "The model (default)" in shown


def test_trials_are_counted_and_failures_explained(page: Page, report: Report) -> None:
    trials, shown = report.result.trials, page.text("search")
    failed = sum(trial.value is None for trial in trials)
    stopped = sum(trial.stopped_early for trial in trials)
    assert f"Done {len(trials) - failed - stopped} Stopped early {stopped} Failed {failed}" in shown
    assert f"{failed} trials: timeout: It took longer than 60 s." in shown
    best = sorted((trial for trial in trials if trial.is_complete), key=lambda trial: -(trial.value or 0))[
        :10
    ]
    assert [shown.index(f" {trial.value:.4f} ") for trial in best] == sorted(
        shown.index(f" {trial.value:.4f} ") for trial in best
    )


def test_a_blend_is_shown_with_its_parts_and_its_reason(report: Report) -> None:
    first, second = [trial for trial in report.result.trials if trial.is_complete][:2]
    weights = {first.number: 3, second.number: 1}
    blend = ModelChoice(first.number, weights, value=0.9123, gain=Gain(0.0042, 0.0011, 77))
    page = Page(report_page(replace(report, result=replace(report.result, choice=blend))))
    assert blend.sentence in page.texts
    shown = page.text("search")
    assert "The blend of 2 trials" in shown
    for trial, share in ((first, "75.0%"), (second, "25.0%")):
        assert f"{share} {trial.number} {trial.value:.4f}" in shown
    assert "Score of the search: 0.9123." in page.text("leaderboard")
    assert "a blend chosen from" in page.text("leaderboard")


def test_that_there_is_no_blend_is_shown_too(page: Page, report: Report) -> None:
    assert "a single trial" in report.result.choice.sentence
    assert report.result.choice.sentence in page.texts
    assert "The blend of" not in page.text("search")


def test_it_is_said_which_rows_the_model_was_trained_on(page: Page, report: Report) -> None:
    assert report.result.shipped_sentence in page.texts
    assert "of its twin, which did not see the holdout" in report.result.shipped_sentence


def test_importances_are_those_of_the_report(page: Page, report: Report) -> None:
    for section, shares in (("parameters", report.parameters), ("features", report.features)):
        shown = page.text(section)
        for name, share in shares.items():
            written = f"{100 * share:.1f}%" if share >= 0.0995 else f"{100 * share:#.2g}%"
            assert f"{name} {written}" in shown


def test_the_data_and_how_to_repeat_the_run_are_shown(page: Page, report: Report) -> None:
    shown = page.text("data")
    assert f"{report.facts.rows:,}" in shown
    assert "5 (4 numeric, 1 categorical)" in shown
    assert "A column was left out." in shown
    assert report.scar is not None
    assert report.scar.sentence in shown
    again = page.text("again")
    for command in (
        "predict 'my runs' FILE --out scores.csv",
        "explain 'my runs'",
        "leaderboard show 'my runs'",
    ):
        assert f"pubench {command}" in again
    assert "pubench evaluate 'my runs/holdout.csv' --label label --score score" in again
    named = replace(report, subject=replace(report.subject, file="my rows.csv"))
    assert "pubench predict 'my runs' 'my rows.csv' --out" in Page(report_page(named)).text("again")
    assert report.provenance.configuration.rstrip() in again
    assert "First trial 3.7 s" in again
    assert "Total 3.5 min" in again


def test_no_secret_is_shown(page: Page, report: Report) -> None:
    assert "s3cret" not in report_page(report)
    assert "postgresql://db/x" in page.text("again")


def test_hostile_names_stay_text(page: Page, report: Report) -> None:
    assert HOSTILE in page.texts
    trial = replace(report.result.best, status=Status.FAILED, value=None, reason=HOSTILE, number=99)
    hostile = replace(
        report,
        subject=ReportSubject(HOSTILE, HOSTILE, note=HOSTILE, source=HOSTILE),
        provenance=replace(
            report.provenance,
            command=(HOSTILE,),
            versions={HOSTILE: HOSTILE},
            machine=HOSTILE,
            configuration=HOSTILE,
        ),
        parameters={f"learner.{HOSTILE}": 1.0},
        result=replace(
            report.result,
            trials=(*report.result.trials, trial),
            timeline={HOSTILE: 1.0},
            notices=(HOSTILE, '"><script>'),
        ),
    )
    shown = Page(report_page(hostile))
    assert "script" not in {tag for tag, _ in shown.tags}
    assert shown.text().count(HOSTILE) > 8


def test_only_stand_ins_are_marked_as_such(report: Report) -> None:
    assert "stand-in" not in Page(report_page(replace(report, subject=ReportSubject("mine")))).text()


def only(report: Report, *trials: Trial) -> Report:
    best = next(trial for trial in trials if trial.is_complete)
    return replace(report, parameters={}, result=replace(report.result, trials=trials, best=best))


def test_one_trial_is_enough(report: Report) -> None:
    shown = Page(report_page(only(report, report.result.best)))
    assert "parameters" not in sections(shown)
    assert "The best trial" in shown.text("search")
    assert "Why trials failed" not in shown.text("search")


def test_all_trials_but_one_may_have_failed(report: Report) -> None:
    failed = [
        replace(
            report.result.best, number=100 + i, status=Status.FAILED, value=None, reason=f"Reason {i % 2}."
        )
        for i in range(5)
    ]
    shown = Page(report_page(only(report, report.result.best, *failed))).text("search")
    assert "Done 1 Stopped early 0 Failed 5" in shown
    assert "3 trials: failed: Reason 0." in shown
    assert "2 trials: failed: Reason 1." in shown


def test_unknown_values_are_omitted(report: Report) -> None:
    bare = replace(report, neighbours=None, features={}, parameters={}, scar=None)
    shown = Page(report_page(bare))
    assert sections(shown) == ["leaderboard", "calls", "lift", "search", "data", "again"]
    assert "It was not tested here" in shown.text("data")


def test_a_given_k_is_named_as_such(report: Report) -> None:
    given = NeighbourCurve("default", 3, choose_k([1.0] * 20))
    shown = Page(report_page(replace(report, neighbours=given))).text("neighbours")
    assert "Default model: k = 3 was set by the search; the rule would choose k = 10." in shown


def test_the_file_is_the_page_and_replaces_another(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(report, path)
    assert path.read_text(encoding="utf-8") == report_page(report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_reported(report: Report, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"can ?not be written"):
        write_report(report, tmp_path / "gone" / "report.html")
