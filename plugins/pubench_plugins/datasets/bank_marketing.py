"""`bank-marketing`: calls of a bank's campaign, some of which sell."""

from pubench import DataFile, DatasetInfo
from pubench_plugins.datasets.public import CsvDataset


class BankMarketing(CsvDataset):
    """The larger and newer of UCI's two Bank Marketing tables, without the duration of the call."""

    name = "bank-marketing"
    info = DatasetInfo(
        title="Calls of a Portuguese bank's campaign; positive: the client subscribes a term deposit",
        rows=41_188,
        features=19,
        positives=4_640,
        source="Moro, Cortez and Rita 2014, Bank Marketing, UCI 222, https://doi.org/10.24432/C5K306",
        licence="CC BY 4.0",
        note="The duration of the call is left out: it is known only after the call and gives the outcome away.",
    )
    files = (
        DataFile(
            ("bank+marketing.zip", "bank-additional-full.csv"),
            "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip",
        ),
    )
    members = ("bank-additional.zip", "bank-additional/bank-additional-full.csv")
    separator = ";"
    label = "y"
    positive = "yes"
    negative = "no"
    categorical = (
        "job",
        "marital",
        "education",
        "default",
        "housing",
        "loan",
        "contact",
        "month",
        "day_of_week",
        "poutcome",
    )
    dropped = ("duration",)
