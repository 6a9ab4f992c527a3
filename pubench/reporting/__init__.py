"""The page that a tuning run leaves behind: one file, no network, no script.

    gathering (a run's values -> Report) -> charts, sections (Report -> markup) -> page (markup -> report.html)

Everything on the page goes through `markup`, which escapes whatever is not markup already: names come from users' files.
"""
