"""What contenders and tasks are called, and under which addresses they are found."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from pubench.errors import one_line
from pubench.records.record import RunSpec
from pubench.types import Json

#: Longer words are cut: they would push everything else off the page.
_LONGEST_WORD = 24
_LONGEST_ID = 60
#: A parameter that tells a method about the data: on another data set it is another number, and the same method.
_TOLD = "prior"
#: The parts of a configuration that a label names, in this order, after the method.
_PARTS = ("similarity", "learner")


@dataclass(frozen=True)
class Entry:
    """A contender: a method with its parts and parameters, or a search over them.

    Attributes:
        id: fit for a file's name and an address; no two are alike.
        label: what it is called; no two are alike.
        method: the method's name.
        configuration: the plugins and their parameters; of a search, what it may choose from.
        tuning: the budget of the search; empty without one.
    """

    id: str
    label: str
    method: str
    configuration: Mapping[str, Json]
    tuning: Mapping[str, Json]

    @property
    def tuned(self) -> bool:
        """Whether a search chose its parameters."""
        return bool(self.tuning)


def entries_of(specs: Sequence[RunSpec]) -> tuple[tuple[Entry, ...], list[int]]:
    """Return the contenders by label, and the number of each spec's own."""
    kept = _without_told(specs)
    key_of = [_contender_key(spec) for spec in kept]
    distinct = dict(zip(key_of, kept, strict=True))
    labels = _labels(distinct)
    order = sorted(distinct, key=lambda key: (labels[key].lower(), labels[key]))
    ids = unique_ids([("-".join(_words(distinct[key])), key) for key in order])
    entries = tuple(_entry(id_, labels[key], distinct[key]) for id_, key in zip(ids, order, strict=True))
    number = {key: i for i, key in enumerate(order)}
    return entries, [number[key] for key in key_of]


def unique_ids(wanted: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield an id for each pair of a name and what tells it from others of the same name.

    An id is made of lower-case letters, digits, dots and hyphens, starts with a letter or digit, and is at most 69
    characters long: a file's name on every system.
    """
    short = [_slug(name) for name, _ in wanted]
    counts, used = Counter(short), set[str]()
    for name, (_, what) in zip(short, wanted, strict=True):
        id_ = name if counts[name] == 1 else f"{name}-{short_digest(what)}"
        while id_ in used:  # somebody chose a name that ends as if it had been told apart
            id_ = f"{name}-{short_digest(id_ + what)}"
        used.add(id_)
        yield id_


def task_label(dataset: str, view: Mapping[str, Any]) -> str:
    """Return a task in words: the data set, theta_O, the rows, and what else its view states."""
    theta, rows = view["theta_o"], view["rows"]
    words = [dataset, "labels as observed" if theta is None else f"θ_O {theta:g}"]
    if rows is not None:
        words.append(f"{rows:,} rows")
    words += [
        f"{word(key)} {word(value)}" for key, value in sorted(view.items()) if key not in {"theta_o", "rows"}
    ]
    return ", ".join(words)


def word(value: object) -> str:
    """Return any value on one line, cut where it is long."""
    text = one_line(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
    return text if len(text) <= _LONGEST_WORD else f"{text[: _LONGEST_WORD - 1]}…"


def short_digest(text: str) -> str:
    """Return eight hex digits that stand for a text."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def canonical(value: object) -> str:
    """Return plain JSON values as one text: equal values, equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _without_told(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return specs without what methods were told about the data, but where that alone tells two runs apart."""
    plain = [_without(spec, _TOLD) for spec in specs]
    times = Counter(spec.key for spec in plain)
    compared = {_contender_key(spec) for spec in plain if times[spec.key] > 1}
    return [
        spec if _contender_key(short) in compared else short for spec, short in zip(specs, plain, strict=True)
    ]


def _without(spec: RunSpec, name: str) -> RunSpec:
    method: Any = spec.configuration.get("method")
    if not isinstance(method, Mapping) or name not in method:
        return spec
    kept = {key: value for key, value in method.items() if key != name}
    return replace(spec, configuration={**spec.configuration, "method": kept})


def _contender_key(spec: RunSpec) -> str:
    return canonical([spec.method, spec.configuration, spec.tuning])


def _entry(id_: str, label: str, spec: RunSpec) -> Entry:
    return Entry(id_, label, spec.method, spec.configuration, spec.tuning)


def _names(spec: RunSpec) -> list[str]:
    """Return the names of the method and its parts; the schema of records allows letters, digits, and ._- in them."""
    tables: Mapping[str, Any] = spec.configuration
    return [spec.method, *(tables[kind]["name"] for kind in _PARTS if kind in tables)]


def _words(spec: RunSpec) -> list[str]:
    return [*(["tuned"] if spec.tuning else []), *_names(spec)]


def _labels(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """Return a label for each contender: plugin names, and what tells those of equal names apart."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, spec in specs.items():
        groups[_plain_label(spec)].append(key)
    labels: dict[str, str] = {}
    for label, keys in groups.items():
        if len(keys) == 1:
            labels[keys[0]] = label
            continue
        for key, difference in _differences({key: specs[key] for key in keys}).items():
            labels[key] = f"{label} ({difference})"
    return labels


def _plain_label(spec: RunSpec) -> str:
    names = " + ".join(_names(spec))
    return f"tuned {names}" if spec.tuning else names


def _differences(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """Return for contenders of one label the settings that are not the same in all, or else a digest."""
    settings = {key: _settings(spec) for key, spec in specs.items()}
    names = sorted(set().union(*settings.values()))
    differing = [name for name in names if len({one.get(name) for one in settings.values()}) > 1]
    bare = {name: name.partition(".")[2] for name in differing}
    times = Counter(bare.values())
    shown = {name: short if times[short] == 1 else name for name, short in bare.items()}
    told = {
        key: ", ".join(f"{word(shown[name])} {one[name]}" for name in differing[:3] if name in one)
        or "default"
        for key, one in settings.items()
    }
    repeated = Counter(told.values())
    return {
        key: f"{text}, {short_digest(key)[:6]}" if repeated[text] > 1 else text for key, text in told.items()
    }


def _settings(spec: RunSpec) -> dict[str, str]:
    """Return all parameters of a contender by dotted names, as short texts."""
    tables: Iterable[tuple[str, Any]] = [*spec.configuration.items(), ("tuning", spec.tuning)]
    return {
        f"{kind}.{name}": word(value)
        for kind, table in tables
        for name, value in table.items()
        if name != "name"
    }


def _slug(name: str) -> str:
    return name.lower()[:_LONGEST_ID].rstrip(".-")
