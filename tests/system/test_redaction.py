"""Secrets in addresses are not shown, wherever they are."""

import pytest

from pubench.system.redaction import redacted


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me:s3cret@host/db",
        "mysql://me:p@s3cret@host/db",
        "mysql://me:a?s3cret@host/db",
        "mysql://me:a/s3cret@host/db",
        "mysql://s3cret@host/db",
        "mysql://host/db?password=s3cret",
        "mysql://host/db?user=me&password=s3cret@x&sslmode=require",
        "--storage=mysql://me:s3cret@host/db?key=s3cret@x",
        "git:https://me:s3/cret@host/x#branch and https://s3cret@host",
    ],
)
def test_secrets_are_not_shown(address: str) -> None:
    assert "s3" not in redacted(address)
    assert "://" in redacted(address)


def test_what_is_no_secret_stays() -> None:
    text = "sqlite:///a/b.db and https://token:s3cret@host:1/x#main, a@b?c"
    assert redacted(text) == "sqlite:///a/b.db and https://host:1/x#main, a@b?c"
