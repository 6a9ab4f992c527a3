"""The report of a tuning run: one HTML file without scripts that needs no network.

    TuneResult and data -> report (Report: every value that is shown)
        -> result_sections, call_sections, search_sections, data_sections (with charts) -> page (report.html)

Everything on the page goes through `pubench.html.markup`, which escapes all text: names come from users' files.
"""
