"""Secrets give way to marks that name them, and nothing else in a text changes."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.growth import CHARS, grows_with_its_text
from tests.strategies import texts, thorough
from tests.tables import each
from turnleaf.core.secrets import KINDS, mask_secrets

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"
BASE32 = string.ascii_uppercase + "234567"


def fake(length: int, letters: str = LETTERS) -> str:
    """Make up the random part of a secret, the same each time."""
    body = "".join(random.Random(length).choices(letters, k=length - 3))
    return f"a7{body}Q" if letters in {LETTERS, BASE64} else body + letters[2:5]


def lines(count: int) -> str:
    return "\n".join(fake(64, BASE64) for _ in range(count))


JWT = f"eyJ{fake(33)}.eyJ{fake(90)}.{fake(43)}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{lines(3)}\n{fake(20)}==\n-----END RSA PRIVATE KEY-----"

# Put together here, so that no scanner of repositories takes them for real ones.
BY_SHAPE = [
    ("Anthropic key", f"sk-ant-api03-{fake(93)}AA"),
    ("OpenRouter key", f"sk-or-v1-{fake(64, HEX)}"),
    ("OpenAI key", f"sk-{fake(48)}"),
    ("OpenAI key", f"sk-proj-{fake(60)}-{fake(20)}_x"),
    ("OpenAI key", f"sk-svcacct-{fake(60)}"),
    ("GitHub token", f"ghp_{fake(36)}"),
    ("GitHub token", f"gho_{fake(36)}"),
    ("GitHub token", f"ghs_{fake(36)}"),
    ("GitHub token", f"github_pat_{fake(22)}_{fake(59)}"),
    ("GitLab token", f"glpat-{fake(20)}"),
    ("AWS key id", f"AKIA{fake(16, BASE32)}"),
    ("Google API key", f"AIza{fake(35)}"),
    ("Google OAuth token", f"ya29.{fake(60)}"),
    ("Google OAuth token", f"GOCSPX-{fake(28)}"),
    ("Google OAuth token", f"1//0{fake(40)}"),
    ("Azure key", f"abc8Q~{fake(34)}"),
    (
        "Slack token",
        f"xoxb-{fake(12, string.digits)}-{fake(12, string.digits)}-{fake(24)}",
    ),
    ("Slack token", f"xoxp-{fake(12, string.digits)}-{fake(32)}"),
    (
        "Slack token",
        f"xapp-1-A0{fake(10)}-{fake(13, string.digits)}-{fake(64, HEX)}",
    ),
    ("Discord token", f"M{fake(25)}.{fake(6)}.{fake(38)}"),
    ("Stripe key", f"sk_live_{fake(24)}"),
    ("Stripe key", f"rk_test_{fake(24)}"),
    ("Stripe key", f"whsec_{fake(32)}"),
    ("Twilio key", f"SK{fake(32, HEX)}"),
    ("SendGrid key", f"SG.{fake(22)}.{fake(43)}"),
    ("Mailgun key", f"key-{fake(32, HEX)}"),
    ("Mailchimp key", f"{fake(32, HEX)}-us14"),
    ("npm token", f"npm_{fake(36)}"),
    ("PyPI token", f"pypi-AgEIcHlwaS5vcmc{fake(80)}"),
    ("RubyGems key", f"rubygems_{fake(48, HEX)}"),
    ("Docker token", f"dckr_pat_{fake(27)}"),
    ("Hugging Face token", f"hf_{fake(34)}"),
    ("Groq key", f"gsk_{fake(52)}"),
    ("xAI key", f"xai-{fake(80)}"),
    ("Perplexity key", f"pplx-{fake(48)}"),
    ("Replicate token", f"r8_{fake(37)}"),
    ("Databricks token", f"dapi{fake(32, HEX)}"),
    ("DigitalOcean token", f"dop_v1_{fake(64, HEX)}"),
    ("Shopify token", f"shpat_{fake(32, HEX)}"),
    ("Square token", f"sq0atp-{fake(22)}"),
    ("Facebook token", f"EAA{fake(120)}"),
    ("Firebase key", f"AAAA{fake(7)}:APA91b{fake(134)}"),
    ("Notion token", f"ntn_{fake(46)}"),
    ("Linear key", f"lin_api_{fake(40)}"),
    ("Atlassian token", f"ATATT3xFfGF0{fake(170)}"),
    ("Figma token", f"figd_{fake(40)}"),
    ("Postman key", f"PMAK-{fake(24)}-{fake(34)}"),
    ("Sentry token", f"sntrys_{fake(80)}"),
    ("Grafana token", f"glsa_{fake(32)}_{fake(8, HEX)}"),
    ("New Relic key", f"NRAK-{fake(27)}"),
    ("Vault token", f"hvs.{fake(90)}"),
    ("Supabase key", f"sbp_{fake(40)}"),
    ("Tailscale key", f"tskey-auth-{fake(12)}-{fake(32)}"),
    ("1Password token", f"ops_eyJ{fake(120)}"),
    ("age key", f"AGE-SECRET-KEY-1{fake(58, BASE32)}"),
    ("ssh key", f"b3BlbnNzaC1rZXktdjE{fake(51, BASE64)}\n{lines(2)}"),
    ("JSON web token", JWT),
    (
        "JSON web token",
        f"eyJ{fake(20)}..{fake(16)}.{fake(40)}.{fake(22)}",
    ),
    ("private key", PEM),
    ("private key", PEM.replace("RSA ", "")),
    ("private key", PEM.replace("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY")),
    ("private key", PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK")),
    ("private key", PEM.replace("\n", "\\n")),
    ("private key", PEM.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)),
    ("Telegram token", f"1234567890:AA{fake(33)}"),
    ("card number", "4242424242424242"),
    ("card number", "4242 4242 4242 4242"),
    ("card number", "5555-5555-5555-4444"),
    ("card number", "3782 822463 10005"),
    ("card number", "378282246310005"),
    ("card number", "６０１１１１１１１１１１１１１７"),
    ("IBAN", "DE89370400440532013000"),
    ("IBAN", "GB82 WEST 1234 5698 7654 32"),
    ("IBAN", "AT61 1904 3002 3457 3201"),
    ("IBAN", "FR1420041010050500013M02606"),
    ("Taiwan ID", "A123456789"),
    ("Taiwan ID", "a123456789"),
    ("Taiwan ID", "A800000014"),
    ("Chinese ID", "11010519491231002X"),
    ("Bitcoin key", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"),
    ("Bitcoin key", "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617"),
    ("password hash", f"$apr1${fake(8)}${fake(22)}"),
    ("password hash", f"$2y$10${fake(53)}"),
    ("password hash", f"$6$rounds=5000${fake(16)}${fake(86)}"),
    ("password hash", f"{{SHA}}{fake(27, BASE64)}="),
]
AROUND = [
    "{}",
    "use {} from now on",
    "Here it is: {}.",
    "({})",
    "「{}」",
    "我的是{}，不要給別人",
    "KEY={}",
    '{{"value": "{}"}}',
]

BY_NAME = [
    "my password is ⟦password:hunter2⟧",
    "My password is ⟦password:swordfish⟧.",
    "the wifi password is ⟦password:sunflower⟧, in case you ask",
    "Password: ⟦password:Tr0ub4dor&3⟧",
    "password=⟦password:monkey⟧",
    "passwd = ⟦password:letmein⟧",
    "pw: ⟦password:abc123⟧",
    "pwd:⟦password:abc123⟧ and no more",
    "user: bob, pass: ⟦password:hunter2⟧",
    "the password for the garage router is ⟦password:blue42⟧",
    "My password for Netflix: ⟦password:Korv1234⟧",
    "my old password was ⟦password:hunter2⟧ and the new one is not set",
    "my password is now ⟦password:hunter3⟧",
    "my password's ⟦password:hunter2⟧",
    '"password": "⟦password:hunter2⟧", "user": "bob"',
    "'password': '⟦password:with a space⟧'",
    "`password`: `⟦password:dragon⟧`",
    "**Password:** ⟦password:x9!kLm⟧",
    "change my password to ⟦password:S3cret99⟧",
    "username bob password ⟦password:hunter2⟧",
    "--password ⟦password:hunter2⟧ --verbose",
    "DB_PASSWORD=⟦password:hunter2⟧",
    "dbPassword: ⟦password:hunter2⟧",
    "<password>⟦password:hunter2⟧</password>",
    "password is ⟦password:correct-horse-battery-staple⟧",
    "my passphrase is ⟦passphrase:correct horse battery staple⟧",
    "passcode: ⟦password:4711⟧",
    "the password is ⟦password:1234⟧",
    "Server=db;Uid=bob;Pwd=⟦password:hunter2⟧;Database=x",
    "https://example.com/?password=⟦password:hunter2⟧&x=1",
    "密碼是⟦password:hunter2⟧",
    "我的密碼是 ⟦password:sunflower⟧",
    "密碼：⟦password:1234⟧",
    "密码：⟦password:abc123⟧",
    "密码是⟦password:abc123⟧，别告诉别人",
    "家裡的 wifi 密碼是⟦password:sunflower42⟧喔",
    "WiFi密碼=⟦password:sunflower⟧",
    "密碼改成 ⟦password:Abc-2024⟧ 了",
    "密碼現在是⟦password:Abc2024⟧",
    "密碼是「⟦password:芝麻開門⟧」",
    "密碼是⟦password:一二三四⟧",
    "密碼 ⟦password:abc12345⟧ 請記下",
    "提款卡密碼⟦password:135790⟧",
    "wifi password是⟦password:abc123⟧",
    "通關密語是「⟦password:天王蓋地虎⟧」",
    "my password isn't ⟦password:hunter2⟧",
    "set my password as ⟦password:hunter2⟧",
    "密碼請用⟦password:hunter2⟧",
    "⟦password:hunter2⟧ is my password",
    "⟦password:abc123⟧ 是我家的 wifi 密碼",
    'password: str = "⟦password:hunter2⟧"',
    "My PIN is ⟦PIN:4711⟧",
    "PIN: ⟦PIN:0000⟧, as always",
    "PIN ⟦PIN:4711⟧",
    "My PIN is ⟦PIN:4711⟧. Nobody knows it",
    "the pin code for the gate is ⟦PIN:8642⟧",
    "PIN碼是⟦PIN:4711⟧",
    "CVV ⟦CVV:123⟧",
    "the cvc is ⟦CVV:987⟧.",
    "安全碼：⟦CVV:123⟧",
    "The alarm code is ⟦code:4711#⟧",
    "alarm code ⟦code:4711⟧",
    "門禁碼是⟦code:2580⟧",
    "驗證碼：⟦code:123456⟧",
    "safe combination: ⟦code:12-34-56⟧",
    f"otpauth://totp/Bob?secret=⟦TOTP seed:{fake(32, BASE32)}⟧&issuer=X",
    f"my 2FA secret is ⟦TOTP seed:{fake(16, BASE32)}⟧",
    "TOTP seed: ⟦TOTP seed:jbsw y3dp ehpk 3pxp⟧",
    f"雙重驗證的金鑰是⟦TOTP seed:{fake(16, BASE32)}⟧",
    "my recovery codes are ⟦recovery code:a1b2c-d3e4f, g5h6i-j7k8l⟧",
    "seed phrase: ⟦passphrase:apple river stone cloud tiger lamp ocean chair bread⟧",
    f"api_key=⟦API key:{fake(24)}⟧",
    f"my API key is ⟦API key:{fake(24)}⟧.",
    f"X-Api-Key: ⟦API key:{fake(32, HEX)}⟧",
    f"API金鑰：⟦API key:{fake(20)}⟧",
    f"私钥是⟦API key:{fake(20)}⟧",
    f"token: ⟦token:{fake(24)}⟧",
    f"權杖是⟦token:{fake(24)}⟧",
    f"access_token=⟦token:{fake(24)}⟧&x=1",
    f'"accessToken": "⟦token:{fake(24)}⟧"',
    f"client_secret=⟦secret:{fake(24)}⟧",
    f"clientSecret: '⟦secret:{fake(24)}⟧'",
    f"aws_secret_access_key = ⟦AWS secret key:{fake(40, BASE64)}⟧",
    f"my AWS secret access key is ⟦AWS secret key:{fake(40, BASE64)}⟧",
    f"AccountName=x;AccountKey=⟦Azure key:{fake(86, BASE64)}==⟧;EndpointSuffix=y",
    f"https://hooks.slack.com/services/⟦Slack webhook:T0{fake(8)}/B0{fake(8)}/{fake(24)}⟧",
    f"https://discord.com/api/webhooks/⟦Discord webhook:123456789012345678/{fake(68)}⟧",
    f"https://x.webhook.office.com/webhookb2/⟦Teams webhook:{fake(36)}@{fake(36)}⟧",
    f"https://api.telegram.org/bot⟦Telegram token:123456789:AA{fake(33)}⟧/getMe",
    "postgres://bob:⟦URL password:hunter2⟧@localhost:5432/db",
    "https://bob:⟦URL password:p@ss⟧@example.com/x",
    f"Authorization: Bearer ⟦credentials:{fake(40)}⟧",
    "Authorization: Basic ⟦credentials:Ym9iOmh1bnRlcjI=⟧",
    f"curl -H 'Bearer ⟦bearer token:{fake(40)}⟧'",
    "curl -s -u bob:⟦password:hunter2⟧ https://example.com",
    f"Cookie: sessionid=⟦session cookie:{fake(32)}⟧; theme=dark",
    "WIFI:T:WPA;S:Home;P:⟦password:hunter2⟧;;",
    f"the long-lived access token of Home Assistant is ⟦JSON web token:{JWT}⟧",
    "my SSN is ⟦SSN:123-45-6789⟧",
    f"https://x.blob.core.windows.net/f?se=2026-12-01&sig=⟦Azure SAS:{fake(40)}%3D⟧",
    f"SharedAccessSignature sr=x&sig=⟦Azure SAS:{fake(43)}=⟧&se=1772697600&skn=root",
    "DB_PASS=⟦password:hunter2⟧",
    "export SMTP_PASS='⟦password:hunter2⟧'",
    "dbpass: ⟦password:hunter2⟧",
    "PGPASSWORD=⟦password:hunter2⟧ psql -h db",
    "MYSQL_PWD=⟦password:hunter2⟧ mysql -u root",
    "mysql -u root -p⟦password:Secret⟧ shop",
    "mysql -p⟦password:hunter2⟧ -u root",
    "mysqldump --user=root -p'⟦password:hunter⟧' shop > shop.sql",
    "mysql -p'⟦password:my pass⟧' shop",
    'mysql -u root -p"⟦password:my long pass⟧"',
    f"bob:⟦password hash:$apr1${fake(8)}${fake(22)}⟧",
    f"alice:⟦password hash:{{SHA}}{fake(27, BASE64)}=⟧",
]

HARMLESS = [
    "the password is changed every month",
    "I forgot my password",
    "The password is wrong.",
    "my password is too short",
    "The password is required.",
    "password: required",
    "Is my password safe?",
    "The password is the same as before",
    "The password is on the fridge.",
    "the password is stored in 1Password",
    "1Password is great",
    "A password of 12 characters is enough",
    "the password is 12-16 characters long",
    "Password must be 8 characters or more",
    "The password was changed on 2026-03-05",
    "the password expires in 2027",
    "I use a password manager, Bitwarden 2024.1",
    "password reset link: https://example.com/reset",
    "password: ********",
    "password == other.password",
    "def login(user: str, password: str) -> None:",
    "boarding pass: ABC123",
    "7 of 10 is the password strength",
    "密碼提示是我的生日",
    "密碼跟 2024 年的一樣",
    "密碼是 Google 帳號那組",
    "password=${DB_PASSWORD}",
    "password = <your password>",
    "set the password to something you remember",
    "the passport is in the drawer",
    "passwordless login works with passkeys",
    "password_hash is a column of the table users",
    "密碼在抽屜裡",
    "我忘記密碼了",
    "密碼每個月都要換",
    "密碼是什麼？",
    "密碼是必填的",
    "密碼是8位數",
    "密碼是 6-12 位英數字",
    "密碼2024年改過",
    "密碼是我的生日",
    "他的密碼太短了",
    "密码忘了",
    "金鑰放在玄關的櫃子裡",
    "權杖過期了",
    "commit 3f2a9c1e8b7d6f5a4c3b2a1908f7e6d5c4b3a291",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "the id is 123e4567-e89b-42d3-a456-426614174000",
    "Call me at +886 912 345 678 or (02) 2345-6789",
    "my number is 0912345678",
    "order number 4921837465019283",
    "訂單編號 20260305123456789",
    "ISBN 978-3-16-148410-0",
    "ISBN 9783161484100",
    "version 10.15.7 of 2026.03.05",
    "at 12:34:56 on 2026-03-05",
    "1234 5678 9012 3456 is no card",
    "4242424242424243 fails the checksum",
    "DE89370400440532013001 fails too",
    "A123456780 is nobody's",
    "預留碼：YD20250108",
    "訂單 #MT202502231845",
    "110105194912310021",
    "The token limit is 128000",
    "max_tokens=4096, top_p=0.95",
    "a token of my appreciation",
    "The token is expired, please log in again",
    "each token costs $0.0000025",
    "the secret is to use more butter",
    "The secret ingredient is 2 spoons of miso",
    "aGVsbG8=",
    "eyJhIjoxfQ==",
    "risk-adjusted-returns-of-portfolios-2024",
    "sk-learn is how I call scikit-learn",
    "pin the note to the wall",
    "pin 13 is the LED",
    "PIN is 1234.5",
    "the pin is 5 mm long",
    "my zip code is 10617",
    "error code is 404",
    "bearer of bad news",
    "Bearer authentication is described in RFC 6750",
    "https://example.com:8080/path?x=1#y",
    "mailto:bob@example.com",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx0 bob@laptop",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "A PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "docker run -u 1000:1000 image",
    "the key to the house is under the mat",
    "My API key is in the vault",
    "api_key=os.environ['API_KEY_2']",
    "The public key is AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
    "IMEI 356938035643809",
    "timestamp 1772697600000000000",
    "客廳的燈叫做小明",
    "我的電話是0912-345-678",
    "mysql -u root -p shop",
    "mysql -h db -P 3306 -u root",
    "docker run --name mysql -p3306:3306 -d image",
    "MySQL is old -perhaps too old",
    "two_pass=true and render_pass: 2",
    "the tests say pass=12 fail=0",
    "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTK fails the checksum",
    "KeinHaeuserMeerAllesWasIchSageIstEinLangesWortXyzabc",
    "the jacket costs $2 and the cap $1",
    "sig=short and signature=none",
    "{SHA} is an old scheme of htpasswd",
    "a family 👨\u200d👩\u200d👧 and a soft\u00adhyphen",
    "零寬\u200b字元",
    "[password]",
    "my password is [password]",
    "",
]


def split(marked: str) -> tuple[str, str, str]:
    """Return the text with its secret, the text with the mark, and the secret."""
    before, _, rest = marked.partition("⟦")
    kind, _, rest = rest.partition(":")
    secret, _, after = rest.partition("⟧")
    return f"{before}{secret}{after}", f"{before}[{kind}]{after}", secret


NAMED = [split(marked) for marked in BY_NAME]


@each("kind, secret", BY_SHAPE)
def test_a_secret_of_a_known_shape_gives_way_to_its_kind(kind: str, secret: str) -> None:
    for around in AROUND:
        assert mask_secrets(around.format(secret)) == around.format(f"[{kind}]")


@each("text, expected, secret", NAMED)
def test_a_secret_that_is_named_gives_way_and_its_sentence_stays(
    text: str, expected: str, secret: str
) -> None:
    assert secret in text
    assert mask_secrets(text) == expected


def test_every_kind_is_tried() -> None:
    tried = {kind for kind, _ in BY_SHAPE} | {
        text.split("[")[1].split("]")[0] for _, text, _ in NAMED
    }
    assert tried == set(KINDS)
    assert len(KINDS) >= 30


@each("text", HARMLESS)
def test_a_harmless_text_stays_as_it_is(text: str) -> None:
    assert mask_secrets(text) == text


def test_the_rest_of_a_long_message_stays() -> None:
    story = "昨天我去了台中。\nThe weather was fine, and we ate 3 bowls of noodles!\n"
    for text, expected, _ in NAMED:
        masked = mask_secrets(f"{story}{text}\n{story}")
        assert masked == f"{story}{expected}\n{story}"


def test_every_secret_of_a_message_gives_way() -> None:
    text = "\n".join(text for text, _, _ in NAMED)
    assert mask_secrets(text) == "\n".join(expected for _, expected, _ in NAMED)


@pytest.mark.parametrize("cut", [100, 150, 200])
def test_a_private_key_that_was_cut_off_gives_way(cut: int) -> None:
    assert mask_secrets(f"my key:\n{PEM[:cut]}") == "my key:\n[private key]"
    assert (
        mask_secrets(f"my key:\n{PEM[:96]}\nand that is all")
        == "my key:\n[private key]\nand that is all"
    )


def test_a_private_key_without_its_beginning_gives_way() -> None:
    assert (
        mask_secrets(f"so:\n{PEM.partition('KEY-----')[2].strip()}\nok") == "so:\n[private key]\nok"
    )


def test_an_account_number_ends_where_its_country_says() -> None:
    assert mask_secrets("AT61 1904 3002 3457 3201 BIC GIBAATWW") == "[IBAN] BIC GIBAATWW"


def test_a_key_of_putty_gives_way() -> None:
    text = f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n{lines(2)}\nPrivate-MAC: 1"
    assert lines(1) not in mask_secrets(text)


@pytest.mark.parametrize("invisible", [*"\u200b\u200c\u200d\u2060\ufeff\xad"])
def test_a_secret_that_invisible_characters_split_gives_way_whole(invisible: str) -> None:
    token = f"ghp_{fake(36)}"
    split_up = invisible.join(token[place : place + 5] for place in range(0, len(token), 5))
    assert mask_secrets(f"前{invisible}面 {split_up}, ok{invisible}") == (
        f"前{invisible}面 [GitHub token], ok{invisible}"
    )
    assert mask_secrets(f"it is {token}", f"look: {split_up}") == "it is [GitHub token]"
    assert mask_secrets(f"my password is hun{invisible}ter2") == "my password is [password]"


def test_a_long_password_leaves_no_end_behind() -> None:
    assert mask_secrets(f"password: {fake(5000)} ok") == "password: [password] ok"


scraps = st.sampled_from(
    [
        *(secret for _, secret in BY_SHAPE),
        *(text for text, _, _ in NAMED),
        *(f"[{kind}]" for kind in KINDS),
        *(
            "password",
            "my password is ",
            "密碼是",
            "token=",
            "PIN ",
            "api key: ",
            "://a:",
            "@b",
            "-----",
        ),
        *(
            "[",
            "]",
            " ",
            ":",
            "=",
            "\n",
            '"',
            "「",
            "」",
            "1234",
            "abc",
            "4242",
            "-",
            ".",
            "是",
            "K",
            "ſ",
        ),
    ]
)
mixtures = st.lists(scraps, max_size=8).map("".join) | texts


@given(mixtures)
@example("password password password: hunter2")
@example("my password is [password]x9")
@thorough
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once) == once


@each(
    "piece",
    [
        *("a", "A", "1", " ", "-", "\n", "[", "=", "_", "密", "1 ", "a-", "a.", "4242 ", "A1 "),
        *(
            "password",
            "password ",
            "password:",
            "password is ",
            "password for ",
            "密碼是",
            "密碼",
            "PIN ",
        ),
        *(
            "eyJ",
            "-eyJ",
            "eyJa.",
            "sk-",
            "sk-ant-",
            "SG.",
            "-----BEGIN PRIVATE KEY-----",
            "-----END ",
        ),
        *(
            "://",
            "://a:",
            "://a:b@",
            "curl ",
            "curl -u ",
            "WIFI:P:",
            "token=",
            "api_key ",
            "secret is ",
        ),
        *(
            "passphrase is a ",
            "seed phrase: ab ",
            "authorization: ",
            "bearer ",
            "otpauth://",
            "DE89 3704 ",
        ),
        *(
            f"{fake(64, BASE64)}\n",
            "Private-Lines: 1\n",
            "1234567890:AA",
            "AAAA",
            "[password]",
            "a1b2c3 ",
        ),
        *("password is" + " " * 50_000, "password" + "\n" * 50_000),
        *("recovery codes: a1b2c3, ", "password is hunter2 ", "4242424242424242 ", "A123456789,"),
    ],
)
def test_no_hostile_text_takes_long(piece: str) -> None:
    assert grows_with_its_text(mask_secrets, piece * max(1, CHARS // len(piece)))


@pytest.mark.parametrize(
    ("said", "kept", "expected"),
    [
        ("My wifi password is hunter2banana", "The Wi-Fi at home: hunter2banana", "[password]"),
        ("家裡 wifi 密碼是 hunter2banana", "家裡的無線網路：hunter2banana", "[password]"),
    ],
)
def test_a_secret_of_the_words_that_a_text_rests_on_is_masked_in_it(
    said: str, kept: str, expected: str
) -> None:
    assert mask_secrets(kept) == kept
    assert mask_secrets(kept, said) == kept.replace("hunter2banana", expected)
    assert mask_secrets("I like bananas", said) == "I like bananas"
