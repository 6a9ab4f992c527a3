"""Labels and ids of contenders and tasks: what pages show, and what files are called."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from pubench.errors import one_line
from pubench.record.record import RunSpec
from pubench.tuning.space import ANY
from pubench.types import Json

#: Longer words are truncated, as they would fill the page.
_MAX_WORD_LENGTH = 24
_MAX_SLUG_LENGTH = 60
#: A parameter that describes the data: its value differs between data sets although the method is the same.
_DATA_PARAMETER = "prior"
#: The parts of a configuration that a label names after the method, in this order.
_PARTS = ("similarity", "learner")


@dataclass(frozen=True)
class BoardEntry:
    """A contender: a method with its parts and parameters, or a search over them.

    Attributes:
        id: unique, and usable as a file name and in URLs.
        label: the unique name that is shown.
        method: name of the method.
        configuration: the plugins and their parameters; of a search, the space it searches.
        tuning: the budget of the search; empty without a search.
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


def entries_of(specs: Sequence[RunSpec]) -> tuple[tuple[BoardEntry, ...], list[int]]:
    """Return the contenders in the order of their labels, and for each spec the number of its contender."""
    plain = _without_data_parameter(specs)
    key_of = [_contender_key(spec) for spec in plain]
    distinct = dict(zip(key_of, plain, strict=True))
    labels = _labels(distinct)
    order = sorted(distinct, key=lambda key: (labels[key].lower(), labels[key]))
    ids = unique_ids([("-".join(_id_words(distinct[key])), key) for key in order])
    entries = tuple(_entry(id_, labels[key], distinct[key]) for id_, key in zip(ids, order, strict=True))
    number = {key: i for i, key in enumerate(order)}
    return entries, [number[key] for key in key_of]


def unique_ids(names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield an id for each pair of a name and a text that distinguishes it from others of the same name.

    An id consists of lower-case letters, digits, dots and hyphens, starts with a letter or digit, and has at most 69
    characters: a valid file name on every system.
    """
    slugs = [_slug(name) for name, _ in names]
    counts, used = Counter(slugs), set[str]()
    for slug, (_, distinction) in zip(slugs, names, strict=True):
        id_ = slug if counts[slug] == 1 else f"{slug}-{short_digest(distinction)}"
        while id_ in used:  # another name may end like such a digest
            id_ = f"{slug}-{short_digest(id_ + distinction)}"
        used.add(id_)
        yield id_


def task_label(dataset: str, view: Mapping[str, Any]) -> str:
    """Return the label of a task: data set, theta_O, number of rows, and all other settings of its view."""
    theta, rows = view["theta_o"], view["rows"]
    label_parts = [dataset, "labels as observed" if theta is None else f"θ_O {theta:g}"]
    if rows is not None:
        label_parts.append(f"{rows:,} rows")
    label_parts += [
        f"{short_text(key)} {short_text(value)}"
        for key, value in sorted(view.items())
        if key not in {"theta_o", "rows"}
    ]
    return ", ".join(label_parts)


def short_text(value: object) -> str:
    """Return a value as text on one line, truncated to 24 characters."""
    text = one_line(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
    return text if len(text) <= _MAX_WORD_LENGTH else f"{text[: _MAX_WORD_LENGTH - 1]}…"


def short_digest(text: str) -> str:
    """Return a digest of a text as eight hex digits."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def canonical(value: object) -> str:
    """Return JSON values as text; equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _without_data_parameter(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return the specs without parameters that describe the data, unless two runs differ in these alone."""
    plain = [_without(spec, _DATA_PARAMETER) for spec in specs]
    times = Counter(spec.key for spec in plain)
    compared = {_contender_key(spec) for spec in plain if times[spec.key] > 1}
    return [
        spec if _contender_key(short) in compared else short for spec, short in zip(specs, plain, strict=True)
    ]


def _without(spec: RunSpec, name: str) -> RunSpec:
    method: Any = spec.configuration.get("method")
    if not isinstance(method, Mapping) or name not in method:
        return spec
    others = {key: value for key, value in method.items() if key != name}
    return replace(spec, configuration={**spec.configuration, "method": others})


def _contender_key(spec: RunSpec) -> str:
    return canonical([spec.method, spec.configuration, spec.tuning])


def _entry(id_: str, label: str, spec: RunSpec) -> BoardEntry:
    return BoardEntry(id_, label, spec.method, spec.configuration, spec.tuning)


def _names(spec: RunSpec) -> list[str]:
    """Return the names of the method and its parts; the record schema allows letters, digits and ._- in them.

    Parts that a search chose among several are left out.
    """
    tables: Mapping[str, Any] = spec.configuration
    parts = [tables[kind]["name"] for kind in _PARTS if kind in tables]
    return [spec.method, *(name for name in parts if name != ANY)]


def _id_words(spec: RunSpec) -> list[str]:
    return [*(["tuned"] if spec.tuning else []), *_names(spec)]


def _labels(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """Return a label for each contender: its plugin names, and the settings that distinguish equal names."""
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
    """Return for contenders with the same plugin names the settings that differ, and a digest if these are the same."""
    settings = {key: _settings(spec) for key, spec in specs.items()}
    names = sorted(set().union(*settings.values()))
    differing = [name for name in names if len({own.get(name) for own in settings.values()}) > 1]
    bare = {name: name.partition(".")[2] for name in differing}
    times = Counter(bare.values())
    shown = {name: short if times[short] == 1 else name for name, short in bare.items()}
    texts = {
        key: ", ".join(f"{short_text(shown[name])} {own[name]}" for name in differing[:3] if name in own)
        or "default"
        for key, own in settings.items()
    }
    repeated = Counter(texts.values())
    return {
        key: f"{text}, {short_digest(key)[:6]}" if repeated[text] > 1 else text for key, text in texts.items()
    }


def _settings(spec: RunSpec) -> dict[str, str]:
    """Return all parameters of a contender as short texts, by dotted names."""
    tables: Iterable[tuple[str, Any]] = [*spec.configuration.items(), ("tuning", spec.tuning)]
    return {
        f"{kind}.{name}": short_text(value)
        for kind, table in tables
        for name, value in table.items()
        if name != "name"
    }


def _slug(name: str) -> str:
    return name.lower()[:_MAX_SLUG_LENGTH].rstrip(".-")
