"""A small run with real models, searched and judged, and a browser to look at its page."""

import json
import os
import select
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from pubench.data.splits import holdout
from pubench.plugin_api import Kind
from pubench.registry import Registry, load_registry
from pubench.reporting.gathering import gather, parameter_importances
from pubench.reporting.report import Provenance, Report, Subject
from pubench.saving.configuration import Named, configure
from pubench.saving.toml import to_toml
from pubench.seeds import Seed
from pubench.tuning.inner import Plan, inner_folds
from pubench.tuning.outcome import TUNED, Contender, compare, contend
from pubench.tuning.run import Found
from pubench.tuning.search_space import SearchSpace
from pubench.tuning.sharing import Memory
from pubench.tuning.study import Trial
from pubench.types import Feature, PUData, Resources, Status, Table

HOSTILE = "<script>alert(1)</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def plugins() -> Registry:
    return load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


@pytest.fixture(scope="session")
def rows() -> PUData:
    """1,500 rows of which 90 are labelled; a column has a hostile name, another one holes."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1_500, 5))
    positive = X[:, 0] + 0.5 * X[:, 1] + 0.5 * generator.normal(size=1_500) > 1.6
    s = positive & (generator.random(1_500) < 0.6)
    X[generator.random(1_500) < 0.1, 2] = np.nan
    X[:, 4] = generator.integers(0, 3, 1_500)
    names = (
        "income",
        "visits & more",
        HOSTILE,
        "a_rather_long_name_of_a_feature_that_has_no_spaces_in_it_at_all",
    )
    features = (*(Feature(name) for name in names), Feature("town", "categorical", ("Ulm", "Bonn", "Köln")))
    return PUData(Table(X, features), s)


def searched(space: SearchSpace) -> tuple[optuna.Study, tuple[Trial, ...]]:
    """Return 40 trials with made-up values, of which some were stopped early and some failed."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    trials = []
    for number in range(40):
        asked = study.ask()
        configuration = space.suggest(asked)
        params = dict(asked.params)
        trial = Trial(number, configuration, params, Status.OK, seconds=1.5 + number / 10)
        if number % 13 == 5:
            study.tell(asked, state=optuna.trial.TrialState.FAIL)
            trials.append(replace(trial, status=Status.TIMEOUT, reason="It took longer than 60 s."))
            continue
        value = 0.86 + 0.03 * (params["learner"] == "logistic") + 0.02 * np.sin(number)
        study.tell(asked, value)
        trials.append(replace(trial, value=value, stopped_early=number % 4 == 3))
    return study, tuple(trials)


@pytest.fixture(scope="session")
def report(plugins: Registry, rows: PUData) -> Report:
    """The report of a run with everything in it."""
    seed, resources = Seed(0), Resources()
    split = holdout(rows.s, 0.25, seed)
    inner, test = rows.take(split.train), rows.take(split.test)
    folds = inner_folds(inner.s, Plan(), seed)
    names = {
        Kind.METHOD: ["probtagging"],
        Kind.SIMILARITY: ["knn"],
        Kind.LEARNER: ["logistic", "lightgbm", "histgb"],
    }
    study, trials = searched(SearchSpace(plugins, names))
    memory = Memory(inner, folds, seed, for_all=True)

    def contender(method: str, **params: Any) -> Contender:
        parts = {Kind.METHOD: Named(method, params), Kind.LEARNER: Named("logistic")}
        if method == "probtagging":
            parts[Kind.SIMILARITY] = Named("knn")
        return contend(configure(parts, plugins), memory, test, seed, resources)

    contenders = {
        TUNED: contender("probtagging", members=5, tags="soft"),
        "default": contender("probtagging", members=5),
        "naive": contender("naive"),
        "bagging": contender("bagging"),
    }
    complete = [trial for trial in trials if trial.is_complete]
    best = max(complete, key=lambda trial: trial.value or 0)
    timeline = {"data": 0.3, "first trial": 4.0, "search": 190.0, "finalists": 200.5, "final models": 212.0}
    found = Found(split, folds, trials, best, {best.number: 0.8765}, compare(contenders, test), timeline)
    provenance = Provenance(
        day=date(2026, 11, 16),
        command=(
            "pubench",
            "tune",
            "--storage",
            "postgresql://me:s3cret@db/x?sslkey=s3cret",
            "--out",
            "my runs",
        ),
        versions={"python": "3.11.7", "pubench": "0.1.0", "numpy": "2.3.1"},
        machine="Linux x86_64, 2 cores",
        out=Path("my runs"),
        configuration=to_toml(contenders[TUNED].configuration, 0),
    )
    subject = Subject("customers", "Customers who bought", stand_in=True, source="made up")
    return gather(subject, provenance, rows, found, parameter_importances(study), ("A column was left out.",))


class Browser:
    """Chromium without a window, spoken to through two pipes: no driver, no port."""

    def __init__(self, program: str, profile: Path) -> None:
        flags = (
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
            "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
        )
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # It reads from 3 and writes to 4, whatever numbers the pipes have here.
        start = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", start, "bash", program, *flags.split(), f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest, self._session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> Any:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], 60)[0], "the browser does not answer"
            piece = os.read(self._from, 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        first, _, self._rest = self._rest.partition(b"\0")
        return json.loads(first)

    def open(self, page: Path, width: int, scheme: str, media: str = "") -> list[dict[str, Any]]:
        """Load a page and return what happened meanwhile."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        self.run("document.fonts.ready.then(() => 0)")
        return list(self.events)

    def run(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """Return the whole page as a PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return b64decode(answer["data"])

    def close(self) -> None:
        """End it."""
        os.close(self._to)
        self._process.terminate()
        self._process.wait(20)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine; Debian has it as the package chromium")
    opened = Browser(CHROMIUM, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
