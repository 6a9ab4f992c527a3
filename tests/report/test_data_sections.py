"""Commands are shown without secrets."""

import pytest

from pubench.report.data_sections import shown_command


@pytest.mark.parametrize(
    "word",
    [
        "mysql://me:s3cret@host/db",
        "mysql://me:p@s3cret@host/db",
        "mysql://me:a?s3cret@host/db",
        "mysql://me:a/s3cret@host/db",
        "mysql://host/db?password=s3cret",
        "--storage=mysql://me:s3cret@host/db?key=s3cret@x",
    ],
)
def test_secrets_in_urls_are_masked(word: str) -> None:
    assert "s3cret" not in shown_command(("pubench", word))


def test_other_words_are_unchanged() -> None:
    assert shown_command(("pubench", "tune", "my file.csv", "a@b?c")) == "pubench tune 'my file.csv' 'a@b?c'"
