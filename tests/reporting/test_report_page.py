"""The page says what the values are, in sound HTML, whatever a run came to."""

from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.neighbors.selection import choose_k
from pubench.reporting.contexts import shown_command
from pubench.reporting.markup import VOID
from pubench.reporting.page import render, write_report
from pubench.reporting.report import Neighbours, Report, Subject
from pubench.tuning.blends import Blending
from pubench.tuning.caution import Caution
from pubench.tuning.outcome import TUNED
from pubench.tuning.selection import Gain
from pubench.tuning.study import Trial
from pubench.types import PUData, Status

HOSTILE = "<script>alert(1)</script>"
SECTIONS = ["comparison", "lift", "neighbours", "search", "parameters", "features", "data", "again"]


class Page(HTMLParser):
    """A page taken apart; fails on an end tag that does not fit."""

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
    return Page(render(report))


def sections(page: Page) -> list[str]:
    return [str(attributes["id"]) for tag, attributes in page.tags if tag == "section"]


def test_every_section_is_there_and_can_be_gone_to(page: Page) -> None:
    assert sections(page) == SECTIONS
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == [f"#{anchor}" for anchor in SECTIONS]
    ids = list(page.ids())
    assert len(ids) == len(set(ids))


def test_the_page_needs_nothing_from_outside(page: Page) -> None:
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed"}
    addresses = [
        attributes.get(name) for _, attributes in page.tags for name in ("src", "href", "xlink:href")
    ]
    assert all(address is None or address.startswith("#") for address in addresses)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_the_head_says_what_it_is_and_how_good(page: Page, report: Report) -> None:
    told, interval = page.text(), report.found.outcome.contenders[TUNED].interval
    assert "16 November 2026" in told
    assert "synthetic stand-in" in told
    assert report.found.outcome.verdict in page.texts
    assert f"{interval.estimate:.4f}" in page.texts
    assert f"95% interval [{interval.low:.4f}, {interval.high:.4f}]" in page.texts
    assert f"{interval.n_labelled} labelled positives among {len(report.s)} rows" in page.texts


def test_the_comparison_has_every_figure(page: Page, report: Report) -> None:
    told, outcome = page.text("comparison"), report.found.outcome
    for name, contender in outcome.contenders.items():
        interval = contender.interval
        assert name.capitalize() in told
        assert f"{interval.estimate:.4f} [{interval.low:.4f}, {interval.high:.4f}]" in told
    for comparison in outcome.comparisons.values():
        assert f"{comparison.difference:+.4f} [{comparison.low:+.4f}, {comparison.high:+.4f}]" in told
        assert f"{comparison.p_value:.2g}" in told
    assert f"Score of the search: {report.found.best.value:.4f} (0.8765 when judged again in full)" in told
    assert "optimistic" in told


def test_a_contender_of_the_tuned_configuration_is_said_to_be_that(report: Report) -> None:
    outcome = report.found.outcome
    contenders = {**outcome.contenders, "default": outcome.contenders[TUNED]}
    comparisons = {name: one for name, one in outcome.comparisons.items() if name != "default"}
    same = replace(outcome, contenders=contenders, comparisons=comparisons)
    told = Page(render(replace(report, found=replace(report.found, outcome=same))))
    assert "same configuration" in told.text("comparison")
    assert "left out" in told.text("lift")


def test_trials_are_counted_and_failures_explained(page: Page, report: Report) -> None:
    trials, told = report.found.trials, page.text("search")
    failed = sum(trial.value is None for trial in trials)
    stopped = sum(trial.stopped_early for trial in trials)
    assert f"Done {len(trials) - failed - stopped} Stopped early {stopped} Failed {failed}" in told
    assert f"{failed} trials: timeout: It took longer than 60 s." in told
    best = sorted((trial for trial in trials if trial.is_complete), key=lambda trial: -(trial.value or 0))[
        :10
    ]
    assert [told.index(f" {trial.value:.4f} ") for trial in best] == sorted(
        told.index(f" {trial.value:.4f} ") for trial in best
    )


def test_a_blend_is_told_with_its_parts_and_its_reason(report: Report) -> None:
    first, second = [trial for trial in report.found.trials if trial.is_complete][:2]
    weights = {first.number: 3, second.number: 1}
    blending = Blending(weights, value=0.9123, gain=Gain(0.0042, 0.0011, 77))
    page = Page(render(replace(report, found=replace(report.found, blending=blending))))
    assert blending.sentence in page.texts
    told = page.text("search")
    assert "The blend of 2 trials" in told
    for trial, share in ((first, "75.0%"), (second, "25.0%")):
        assert f"{share} {trial.number} {trial.value:.4f}" in told
    assert "Score of the search: 0.9123." in page.text("comparison")
    assert "a blend chosen from" in page.text("comparison")


def test_a_default_that_is_kept_is_not_called_optimistic(report: Report) -> None:
    caution = Caution(Gain(-0.0049, 0.0039, 148))
    page = Page(render(replace(report, found=replace(report.found, caution=caution))))
    assert caution.sentence in page.texts
    assert "The default is kept: on 148 labelled rows" in caution.sentence
    assert "Score of the default in the search" in page.text("comparison")
    assert "optimistic" not in page.text("comparison")


def test_that_there_is_no_blend_is_told_too(page: Page, report: Report) -> None:
    assert "a single trial" in report.found.blending.sentence
    assert report.found.blending.sentence in page.texts
    assert "The blend of" not in page.text("search")


def test_importances_are_those_of_the_values(page: Page, report: Report) -> None:
    for section, shares in (("parameters", report.parameters), ("features", report.features)):
        told = page.text(section)
        for name, share in shares.items():
            written = f"{100 * share:.1f}%" if share >= 0.0995 else f"{100 * share:#.2g}%"
            assert f"{name} {written}" in told


def test_the_data_and_the_way_here_are_told(page: Page, report: Report) -> None:
    told = page.text("data")
    assert f"{report.facts.rows:,}" in told
    assert "5 (4 numeric, 1 categorical)" in told
    assert "A column was left out." in told
    assert report.scar is not None
    assert report.scar.sentence in told
    again = page.text("again")
    assert "pubench predict 'my runs/model' FILE" in again
    assert report.provenance.configuration.rstrip() in again
    assert "First trial 3.7 s" in again
    assert "In all 3.5 min" in again


def test_no_secret_is_shown(page: Page, report: Report) -> None:
    assert "s3cret" not in render(report)
    assert "postgresql://me:MASKED@db/x" in page.text("again")


@pytest.mark.parametrize(
    "word",
    [
        "mysql://me:s3cret@host/db",
        "mysql://me:p@s3cret@host/db",
        "mysql://me:a?s3cret@host/db",
        "mysql://me:a/s3cret@host/db",
        "mysql://host/db?password=s3cret",
        "--storage=mysql://me:s3cret@host/db?key=s3cret@x",
    ],
)
def test_addresses_are_masked(word: str) -> None:
    assert "s3cret" not in shown_command(("pubench", word))


def test_other_words_are_as_they_were_typed() -> None:
    assert shown_command(("pubench", "tune", "my file.csv", "a@b?c")) == "pubench tune 'my file.csv' 'a@b?c'"


def test_hostile_names_stay_text(page: Page, report: Report) -> None:
    assert HOSTILE in page.texts
    trial = replace(report.found.best, status=Status.FAILED, value=None, reason=HOSTILE, number=99)
    hostile = replace(
        report,
        subject=Subject(HOSTILE, HOSTILE, note=HOSTILE, source=HOSTILE),
        provenance=replace(
            report.provenance,
            command=(HOSTILE,),
            versions={HOSTILE: HOSTILE},
            machine=HOSTILE,
            configuration=HOSTILE,
        ),
        parameters={f"learner.{HOSTILE}": 1.0},
        notices=(HOSTILE, '"><script>'),
        found=replace(report.found, trials=(*report.found.trials, trial), timeline={HOSTILE: 1.0}),
    )
    told = Page(render(hostile))
    assert "script" not in {tag for tag, _ in told.tags}
    assert told.text().count(HOSTILE) > 8


def test_a_stand_in_is_only_named_where_it_is_one(report: Report) -> None:
    assert "stand-in" not in Page(render(replace(report, subject=Subject("mine")))).text()


def only(report: Report, *trials: Trial) -> Report:
    best = next(trial for trial in trials if trial.is_complete)
    return replace(report, parameters={}, found=replace(report.found, trials=trials, best=best, full={}))


def test_one_trial_is_enough(report: Report) -> None:
    told = Page(render(only(report, report.found.best)))
    assert "parameters" not in sections(told)
    assert "The best trial" in told.text("search")
    assert "Why trials failed" not in told.text("search")


def test_all_trials_but_one_may_have_failed(report: Report) -> None:
    failed = [
        replace(
            report.found.best, number=100 + i, status=Status.FAILED, value=None, reason=f"Reason {i % 2}."
        )
        for i in range(5)
    ]
    told = Page(render(only(report, report.found.best, *failed))).text("search")
    assert "Done 1 Stopped early 0 Failed 5" in told
    assert "3 trials: failed: Reason 0." in told
    assert "2 trials: failed: Reason 1." in told


def test_what_is_not_known_is_left_out(report: Report) -> None:
    bare = replace(report, neighbours=None, features={}, parameters={}, scar=None)
    told = Page(render(bare))
    assert sections(told) == ["comparison", "lift", "search", "data", "again"]
    assert "It was not tested here" in told.text("data")


def test_a_given_k_is_said_to_be_that(report: Report) -> None:
    given = Neighbours("default", 3, given=True, choice=choose_k([1.0] * 20))
    told = Page(render(replace(report, neighbours=given))).text("neighbours")
    assert "Default model: k = 3 was set by the search; the rule would take k = 10." in told


def test_a_model_without_neighbours_has_no_such_section(report: Report, rows: PUData) -> None:
    from pubench.reporting.gathering import gather  # noqa: PLC0415 - the only one that gathers again

    contenders = report.found.outcome.contenders
    naive = {TUNED: contenders["naive"], "bagging": contenders["bagging"]}
    found = replace(report.found, outcome=replace(report.found.outcome, contenders=naive))
    assert gather(report.subject, report.provenance, rows, found, {}).neighbours is None


def test_the_file_is_the_page_and_replaces_another(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(report, path)
    assert path.read_text(encoding="utf-8") == render(report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_is_not_there_is_said_plainly(report: Report, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can not be written"):
        write_report(report, tmp_path / "gone" / "report.html")
