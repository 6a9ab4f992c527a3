"""HTML and SVG that the report of a run and the leaderboard share; user text cannot inject markup.

    markup (escaping) -> svg (charts) -> parts (sections, tables, whole documents, page.css)

`numbers` formats every number that is shown, on pages and in the terminal.
"""
