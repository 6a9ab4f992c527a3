"""`pubench tune` from what a person typed to a folder with a model, figures and a report.

    orders (what is asked for) -> choosing (plugins, device) -> folders (where) -> pubench.tuning -> leaving (files)

An edge: it opens data sets, which may carry truth, and finds plugins by name. What searches sees PU data alone.
"""
