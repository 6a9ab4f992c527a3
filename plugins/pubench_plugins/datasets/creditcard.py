"""`creditcard`: card payments of which few are fraud."""

from pubench import DataFile, DatasetInfo
from pubench_plugins.datasets.public import CsvDataset


class CreditCard(CsvDataset):
    """The paper's Credit Card Fraud Detection."""

    name = "creditcard"
    info = DatasetInfo(
        title="Card payments of two days in September 2013; positive: fraud",
        rows=284_807,
        features=30,
        positives=492,
        source=(
            "Worldline and the Machine Learning Group of ULB, Brussels: "
            "Dal Pozzolo et al. 2015, https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud"
        ),
        licence="DbCL 1.0",
        note="V1 to V28 are principal components; the original attributes are not public.",
    )
    files = (
        DataFile(
            ("creditcard.csv", "creditcardfraud.zip"),
            "https://storage.googleapis.com/download.tensorflow.org/data/creditcard.csv",
            "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89",
        ),
    )
    members = ("creditcard.csv",)
    label = "Class"
    positive = "1"
    negative = "0"
