"""Settings of the metrics' tests."""

import matplotlib as mpl
from hypothesis import settings

mpl.use("Agg")

# Time limits per example fail on a busy machine and say nothing about the mathematics.
settings.register_profile("pubench-metrics", deadline=None)
settings.load_profile("pubench-metrics")
