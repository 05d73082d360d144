"""A fact of which masking leaves nothing is no fact; one that says more stays."""

from __future__ import annotations

import pytest

from tests.tables import each
from turnleaf.core.secrets import mask_fact


@each(
    "fact",
    [
        "my wifi password is hunter2",
        "The password for the garage router is blue42",
        "My password is tr0ub4dor&3 for the router",
        "My old password was hunter2, please don't tell anybody",
        "Password: Tr0ub4dor&3",
        "hunter2 is my password",
        "wifi password abc12345",
        "My PIN is 4711.",
        "My credit card number is 4242 4242 4242 4242",
        "My IBAN is DE89370400440532013000",
        "DB_PASSWORD=hunter2",
        "mysql -u root -pSecret1 mydb",
        "mysqldump --user=root -p'my long pass' shop > shop.sql",
        "PGPASSWORD=hunter2 psql -h db -U me shop",
        "curl -s -u bob:hunter2 https://example.com",
        "我家的 wifi 密碼是 hunter2",
        "家裡的 wifi 密碼是hunter2喔，別告訴別人",
        "密碼：abc123",
        "abc123 是我家的 wifi 密碼",
        "我的身分證字號是 A123456789",
        "門禁碼是2580",
    ],
)
def test_a_fact_that_only_says_what_a_secret_is_is_none(fact: str) -> None:
    assert mask_fact(fact) == ""


@pytest.mark.parametrize(
    ("fact", "kept"),
    [
        (
            "I use GitHub with the token ghp_a7b8c9d0e1f2a7b8c9d0e1f2a7b8c9d0e1f2 for the blog",
            "I use GitHub with the token [GitHub token] for the blog",
        ),
        ("My dog is called Rex and my PIN is 4711", "My dog is called Rex and my PIN is [PIN]"),
        ("我用 GitHub 管理部落格，密碼是 hunter2", "我用 GitHub 管理部落格，密碼是 [password]"),
        ("postgres://bob:hunter2@db/blog", "postgres://bob:[URL password]@db/blog"),
        (
            "mysql -u root -pSecret1 mydb is the backup database on the NAS",
            "mysql -u root -p[password] mydb is the backup database on the NAS",
        ),
        ("PGPASSWORD=hunter2 psql 是備份用的指令", "PGPASSWORD=[password] psql 是備份用的指令"),
        ("I forgot my password", "I forgot my password"),
        ("我忘記密碼了", "我忘記密碼了"),
        ("My dog is called Rex", "My dog is called Rex"),
    ],
)
def test_a_fact_that_says_more_stays_without_its_secret(fact: str, kept: str) -> None:
    assert mask_fact(fact) == kept


def test_a_secret_of_the_words_that_a_fact_rests_on_counts() -> None:
    said = "My wifi password is hunter2banana"
    assert mask_fact("Wi-Fi at home: hunter2banana", said) == ""
    assert mask_fact("Wi-Fi at home: hunter2banana") == "Wi-Fi at home: hunter2banana"
