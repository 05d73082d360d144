"""Putting a mark in the place of each secret, so that what is kept holds none.

A secret is known by its shape (most keys and tokens), by its checksum (cards, accounts, identity
numbers) or by its name (passwords and codes: "my password is …"). Only the secret itself gives way;
the sentence around it stays as it was.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.languages.words import compile_pattern, find_pattern, join_patterns, join_texts
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import parse_query, simplify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_SHORTEST_SECRET = 4
_INVISIBLE: dict[int, None] = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u2060\ufeff"))
"""What people do not see between the characters of a secret."""
_DIGITS = str.maketrans("123456789", "000000000")
_FEWEST_DIGITS = "0000"
"""So many digits stand side by side in every number that has a checksum."""

_W = "[A-Za-z0-9_-]"
_A = "[A-Za-z0-9]"

_SHAPES = {
    "Anthropic key": rf"sk-ant-{_W}{{16,}}",
    "OpenRouter key": r"sk-or-v1-[0-9a-f]{32,}",
    "OpenAI key": rf"sk-(?:(?:proj|svcacct|admin|None)-{_W}{{20,}}|{_A}{{20,}})",
    "GitHub token": rf"gh[pousr]_{_A}{{30,}}|github_pat_[A-Za-z0-9_]{{22,}}",
    "GitLab token": rf"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-{_W}{{20,}}",
    "AWS key id": rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?!{_A})",
    "Google API key": rf"AIza{_W}{{35}}",
    "Google OAuth token": rf"ya29\.{_W}{{20,}}|GOCSPX-{_W}{{20,}}|1//0{_W}{{20,}}",
    "Azure key": r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
    "Slack token": r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
    "Discord token": rf"[MNO]{_W}{{23,27}}\.{_W}{{6}}\.{_W}{{27,}}",
    "Stripe key": rf"[sr]k_(?:live|test)_{_A}{{16,}}|whsec_[A-Za-z0-9+/=]{{24,}}",
    "Twilio key": rf"SK[0-9a-f]{{32}}(?!{_A})",
    "SendGrid key": rf"SG\.{_W}{{16,}}\.{_W}{{16,}}",
    "Mailgun key": rf"key-[0-9a-f]{{32}}(?!{_A})",
    "Mailchimp key": rf"[0-9a-f]{{32}}-us\d{{1,2}}(?!{_A})",
    "npm token": rf"npm_{_A}{{36}}",
    "PyPI token": rf"pypi-{_W}{{50,}}",
    "RubyGems key": r"rubygems_[0-9a-f]{48}",
    "Docker token": rf"dckr_(?:pat|oat)_{_W}{{20,}}",
    "Hugging Face token": rf"(?:hf|api_org)_{_A}{{30,}}",
    "Groq key": rf"gsk_{_A}{{40,}}",
    "xAI key": rf"xai-{_A}{{40,}}",
    "Perplexity key": rf"pplx-{_A}{{32,}}",
    "Replicate token": rf"r8_{_A}{{30,}}",
    "Databricks token": rf"dapi[0-9a-f]{{32}}(?:-\d)?(?!{_A})",
    "DigitalOcean token": r"do[opr]_v1_[0-9a-f]{64}",
    "Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "Square token": rf"sq0[a-z]{{3}}-{_W}{{22,}}",
    "Facebook token": rf"EAA{_A}{{80,}}",
    "Firebase key": rf"AAAA{_W}{{7}}:{_W}{{100,}}",
    "Notion token": rf"ntn_{_A}{{40,}}|secret_{_A}{{43}}(?!{_A})",
    "Linear key": rf"lin_(?:api|oauth)_{_A}{{32,}}",
    "Atlassian token": r"ATATT3[A-Za-z0-9_=-]{50,}",
    "Figma token": rf"fig[dour]_{_W}{{36,}}",
    "Postman key": rf"PMAK-{_W}{{50,}}",
    "Sentry token": r"sntry[su]_[A-Za-z0-9_=+/-]{40,}",
    "Grafana token": r"gl(?:sa|c)_[A-Za-z0-9_=+/]{32,}",
    "New Relic key": rf"NR(?:AK|JS|II|RA)-{_W}{{20,}}",
    "Vault token": rf"hv[sbr]\.{_W}{{24,}}",
    "Supabase key": rf"sbp_{_A}{{40,}}|sb_secret_{_W}{{20,}}",
    "Tailscale key": rf"tskey-[a-z]+-{_W}{{16,}}",
    "1Password token": rf"ops_eyJ{_W}{{40,}}",
    "age key": r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    "ssh key": r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{20,}(?:\s{1,2}[A-Za-z0-9+/=]{20,})*",
    # The second look behind lets a run be read once, however often it says "eyJ".
    "JSON web token": (
        rf"eyJ(?<!{_W}eyJ){_W}{{8,}}+\.(?:eyJ{_W}{{8,}}(?:\.{_W}+)?"
        rf"|{_W}*\.{_W}+\.{_W}+\.{_W}+)"
    ),
    "Bitcoin key": rf"[5KLc9][1-9A-HJ-NP-Za-km-z]{{50,51}}(?!{_A})",
}

# How a name is joined to what it names: "is", "=", 是, 改成, with what may stand before and after.
_OF = r"(?:\s+(?:for|to|of|on|at|in|from)\b[^.,;:!?\n：=]{1,40}?|\s?[(（][^()（）\n]{1,40}[)）])?"
_ADVERBS = "now|still|currently|just|actually|probably|simply|always|really|again|not|set to"
_IS = (
    r"(?:[\"'`*]{0,3}\s{0,4}(?:(?::\s?str\s)?(?P<sign>[=＝])>?(?!=)|[:：>→]|->)\*{0,2}\s{0,4}"
    r"|(?:['’]s|\s+(?:is|isn['’]t|was|are|will be|should be|equals))\s+"
    rf"(?:(?:{_ADVERBS})\s+){{0,2}}"
    r"|\s?(?:我|你|现在|目前|已经|已|刚刚|刚|就|还|应该|都|一直|也|会|又|要|被|请|帮){0,4}"
    r"(?:不?是|为|叫做|叫|[改设换变]成|[改设换]为)\s?(?:[:：]\s?)?)"
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
_QUOTE = f"(?P<quote>[{''.join(_QUOTES)}]?)"
_HAN = "\0\u2e80-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
# Patterns look no further, so that their time is linear; `_extend_to_run` takes the rest.
_MAX_SEEN = 128
_WIDE = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
_SEEN: dict[int, int | None] = {code: code - 0xFEE0 for code in _WIDE} | _INVISIBLE
_RUN = make_pattern(f"[^\\s{_HAN}]+")
# What is looked at and not taken can itself hold the name of the next secret.
_ANY = rf"(?=(?P<secret>[^\s{_HAN}]{{1,{_MAX_SEEN}}}|(?<=[「『“])[^\0」』”\n]{{1,99}}(?=[」』”])))"
_OPAQUE = rf"(?=(?P<secret>[A-Za-z0-9_~+/=:%.-]{{8,{_MAX_SEEN}}}))"
_LONG_OPAQUE = _OPAQUE.replace("{8,", "{16,")
_NUMERALS = "(?P<secret>[零〇○一二三四五六七八九两幺]{4,20})(?![年月日天次个位码字])"

_PASSWORDS = (
    r"(?:(?<!\d)pass ?(?:words?|wd|code|phrase)(?![a-z_-])|(?<![a-z])(?:pw|pwd|psw)(?![a-z])"
    r"|密码|口令|通行码|暗号|通关密语)"
)
_KEYS = (
    r"(?:(?:api|secret|access|private|encryption|signing|master|deploy|licen[cs]e|account|shared"
    r"|subscription|webhook|app|auth|network|pre-?shared)[ _-]?key(?![a-z])"
    r"|金钥|密钥|私钥|秘钥)"
)
_TOKENS = (
    r"(?:(?:(?<![a-z])|(?<=api)|(?<=access)|(?<=auth)|(?<=bot)|(?<=refresh)|(?<=session))token"
    r"(?![a-z])|权杖|令牌|存取码)"
)
_SECRETS = r"(?:(?<![a-z])|(?<=client)|(?<=app))secret(?![a-z])"
_CODES = (
    r"(?:(?:door|gate|alarm|garage|entry|entrance|access|lock|safe|keypad|security|verification"
    r"|authentication|one[- ]time|2fa|mfa|sms|unlock|disarm|building|locker)[ -]code"
    r"|combination|(?<![a-z])otp(?![a-z])|验证码|认证码|动态码|解锁码|开门码|门禁码)"
)
_SEEDS = (
    r"(?:(?:totp|2fa|mfa|otp|authenticator|two[- ]factor)(?: (?:app|auth|authentication))?[ _-]"
    r"(?:(?:secret|setup)[ _-]key|secret|seed|key)"
    r"|(?:两步骤?|二阶段|双重|双因素)验证(?:的)?(?:金钥|密钥|种子))"
)
_PHRASES = (
    r"(?:pass ?phrase|(?:recovery|seed|mnemonic|backup)[ -](?:phrase|words)|mnemonic|助记词|助忆词)"
)
_AWS = r"(?:aws[\w ]{0,20}|secret[_ ]?access[_ ]?key)"
_FIRST = (
    rf"(?<![A-Za-z0-9])(?P<quote>)(?P<secret>[^\s{_HAN}]{{4,64}}+)"
    rf"(?:\s(?:is|was|as)\s(?:my|the|our)\s(?:[A-Za-z'-]{{1,20}}\s){{0,3}}"
    rf"|\s?(?:就?是|当|作为)[我你他她们家的]{{0,4}}[\w ]{{0,8}}?){_PASSWORDS}"
)
_PIN = r"(?<![a-z])pin(?:[ -]?(?:code|number|码))?(?![a-z])"
_CVV = r"(?:(?<![a-z])cv[vcn]2?(?![a-z])(?:[ -]?(?:code|码))?|card security code|安全码|检核码)"
_BACKUP_CODES = r"(?:(?:backup|recovery) codes?|(?:备用|复原|恢复|救援)码)"
_SSN = r"(?:(?<![a-z])ssn(?![a-z])|social security(?: (?:number|no\.?))?)"
_SCHEME = r"authorization[\"']?\s?[:=]\s?[\"']?(?:bearer|basic|token|digest|apikey)?\s{0,4}"
_COOKIE = r"(?<![a-z])(?:session(?:_?id)?|sid|phpsessid|jsessionid|csrftoken)="
_MYSQL = r"(?<![\w-])(?:mysql|mariadb)[a-z-]{0,10}+\s(?:[^\n;|]{0,200}?\s)??(?-i:-p)"
_IN_SHELL = (
    r"(?P<mark>[\"'])?"
    r"(?P<secret>(?(mark)(?:[^\"'\n\0]{1,200}(?=[\"'])|[^\s\"'\0]{1,200})|[^\s\"'\0]{1,200}))"
)
"""A word of a command, or a quoted one, which may hold spaces."""
_LOGINS = "db|database|smtp|mysql|postgres|pg|user|root|admin|ftp|redis|mongo|mail|login|auth|wifi"
_PASS = rf"(?:(?-i:(?<=[A-Z0-9]_)PASS)|(?<![a-z])(?:{_LOGINS})_?pass)"
_HASH = (
    r"\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}"
    r"|\$[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}"
    r"|\{S?SHA\}[A-Za-z0-9+/]{27,64}={0,2}"
)
_CURL = r"(?<!\w)curl\b[^\n]{0,300}?\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,60}:"

_BASE32 = r"(?P<secret>[A-Z2-7]{16,}+|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,})(?![A-Za-z0-9])"
_FORTY = r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"
_WORDS = r"(?P<secret>[a-z]{2,15}(?:[ ,-]{1,2}[a-z]{2,15}){2,24})(?![a-z])"
_CODE = r"(?P<secret>(?=(?:\d-?){3})\d{1,10}(?:-\d{1,6}){0,4}[#*]?)(?!\w)"
_MIXED = r"(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{6,40}"
_CARD = (
    r"(?P<secret>3[47]\d\d([ -]?)\d{6}\2\d{5}|3[0689]\d\d([ -]?)\d{6}\3\d{4}"
    r"|(?:4\d|5[1-5]|2[2-7]|35|6\d)\d\d([ -]?)\d{4}\4\d{4}\4\d{4}(?:\4\d{1,3})?)"
)
_IBAN = r"(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)"
_CHINESE_ID = r"(?P<secret>[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dX])"
_PEM = r"PRIVATE KEY(?: BLOCK)?-----"
_PEM_TYPE = r"[A-Z0-9 ]{0,30}"
_PEM_HEADERS = r"(?:\s{0,4}[A-Z][A-Za-z-]{2,20}: [^\n]{1,80}){0,4}"
_PEM_LINE = r"(?:\s|\\r|\\n){0,4}[A-Za-z0-9+/=]{16,80}+"
_PEM_TAIL = r"(?>(?:[A-Za-z0-9+/=]{16,80}\s{1,2}){1,99})(?:[A-Za-z0-9+/=]{1,80}\s{1,2})?"
_PEM_REST = r"(?:(?:\s|\\r|\\n){0,4}[A-Za-z0-9+/]{1,80}=*+(?=\s*(?:\Z|-----)))?"

_MEASURE = make_pattern(
    r"[ -]*+(?:(?:characters?|chars?|digits?|letters?|symbols?|words?|bits?|bytes?|days?|weeks?"
    r"|months?|years?|times?|hours?|minutes?|attempts?|people|users?|accounts?|percent"
    r"|or (?:more|fewer))\b|[%％年月日天次个位码字元分秒点岁人笔组种到至])",
    re.IGNORECASE,
)
_MEASURED = make_pattern(
    r"\d++(?:-\d++)?-(?:digit|char(?:acter)?|letter|day|word|bit)s?", re.IGNORECASE
)
_CLAUSE_END = make_pattern(
    r"[\"'`*”’」』]*+[^\S\n]*+(?:\Z|[\n.,;!?)\]，。；！？、）」』|]|(?:and|but|or|so)\b|[喔哦啦唷耶呀吧])"
)
_PROSE_WORDS = """
    a about again all also always an another any at available back bad basically because blank both
    broken by case-sensitive common compulsory confidential correct currently default different
    difficult easy empty enough env environment every false fine for forgotten from genuine given
    gone good great hard hash here hers hidden his how important in incorrect insecure invalid it
    just kept known long lost mandatory mine missing my never new nil no none not nothing null
    obvious of off ok okay old on one online optional our ours out over personal plain please
    present private public random ready right safe same secret secure see sensitive set short
    simple still strong stuck temporary terrible that the their theirs there this to too true under
    undefined unique unknown unsafe up valid very visible weak what when where which who why with
    within wrong yes your yours required str string text
    1password 2fa argon2 argon2id base64 ipv4 ipv6 md5 oauth2 pbkdf2 sha1 sha-1 sha256 sha-256
    sha512 sha-512 utf-8 utf8 wpa2 wpa3 wpa2-psk 必填 选填 空白 错误 正确
    """
_PROSE = frozenset(_PROSE_WORDS.split())
_PROSE_ENDING = make_pattern(r"(?:ed|ing|ly|able|ible|less|ful)\Z", re.IGNORECASE)
_PLACEHOLDER = make_pattern(
    r"\$\{.*|\$[A-Z_]+|<[^<>]*>?|\{\{?.*|\[[^\]]*\]?|%[sd(].*|[*•.·_xX?-]+|https?://.*"
    r"|(?:~|\.{1,2})?/.*|(?:os|process|env|self|settings|config|getpass)\..*|\d+(?:\.\d+)?%",
    re.DOTALL,
)
_SYMBOL = make_pattern(r"[!@#$%^&*_+=~|\\]")
_CAMEL = make_pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_NEXT_FIELD = make_pattern(r"</|[&;][A-Za-z_][\w .-]{0,40}=|;[\"'`]|[\"'`]\s*[,}]")
_CLOSING = ".,;:!?)]}>\"'`*”’」』…"
_GRAMMAR = "a an the is are was in on of to my your our and or for with it"
_FUNCTION_WORDS = frozenset(_GRAMMAR.split())
_LOGIN_OPTION = make_pattern(r"\s-(?:u|h|-user|-host)")
_PEM_BODY = make_pattern("[A-Za-z0-9+/]{16}")
_IBANS = """
    NO15 BE16 DK18 FI18 FO18 GL18 NL18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 XK20 CH21 HR21 LI21
    LV21 BG22 BH22 CR22 DE22 GB22 GE22 IE22 ME22 RS22 VA22 AE23 GI23 IL23 IQ23 TL23 AD24 CZ24 ES24
    MD24 PK24 RO24 SA24 SE24 SK24 TN24 VG24 LY25 PT25 ST25 IS26 TR26 FR27 GR27 IT27 MC27 MR27 SM27
    AL28 AZ28 BY28 CY28 DO28 GT28 HU28 LB28 NI28 PL28 SV28 BR29 EG29 PS29 QA29 UA29 JO30 KW30 MU30
    MT31 SC31 LC32
    """
_IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _IBANS.split()}
_TAIWAN_AREAS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF_BYTES = 39
_NEAR = 40
_MIN_TELLING = 4
_MIN_TELLING_ALONE = 6
_MIN_WORD = 3

_Cut: TypeAlias = "Callable[[re.Match[str]], str]"


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of secret: `cut` gives it, from the beginning of the group "secret", or nothing."""

    name: str
    hints: tuple[str, ...]
    """What a text holds, one at least, that has such a secret; looking for it takes no time."""
    pattern: str
    cut: _Cut
    is_number: bool = False


def _make_kind(name: str, hints: str, pattern: str, cut: _Cut) -> _Kind:
    return _Kind(name, tuple(hints.split()) or ("",), pattern, cut)


def _make_number_kind(name: str, hints: str, pattern: str, cut: _Cut) -> _Kind:
    return _Kind(name, tuple(hints.split()) or ("",), pattern, cut, is_number=True)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled on first use: all of them take a tenth of a second."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def mask_secrets(text: str, said: str = "") -> str:
    """Return a text with a mark such as "[OpenAI key]" in the place of each secret.

    What is a secret in `said`, the words that the text rests on, is one in the text as well, also
    where nothing around it says so any more.
    """
    for secret, mark in _find_all_secrets(said).items():
        text = text.replace(secret, mark)
    return _mask(text, {})


@lru_cache(maxsize=16)
def _find_all_secrets(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    _mask(text, found)
    # A shorter one may stand in the text as an ordinary word or number.
    return {secret: mark for secret, mark in found.items() if len(secret) >= _SHORTEST_SECRET}


def _mask(text: str, secrets: dict[str, str]) -> str:
    """Return a masked text, and put each secret with its mark into the dictionary."""
    # A mark in the place of one secret may show where the next one begins.
    while (found := _mask_once(text, secrets)) != text:
        text = found
    return text


def _mask_once(text: str, secrets: dict[str, str]) -> str:
    plain = _make_plain(text)
    hint = plain.lower()
    # Most texts have no such run of digits, and there are many patterns for numbers.
    has_digits = _FEWEST_DIGITS in plain.translate(_DIGITS)
    for kind in _KINDS:
        is_possible = has_digits or not kind.is_number
        if is_possible and any(map(hint.__contains__, kind.hints)):
            found = [*_move_back(_find_secrets(kind, plain), text)]
            secrets |= _with_marks(text, found)
            text = _put_marks(text, found)
            plain = _make_plain(text) if found else plain
    return text


def _with_marks(text: str, found: Iterable[tuple[int, int, str]]) -> dict[str, str]:
    """Return the mark of each secret, as it is and without invisible characters."""
    marks = {text[start:end]: f"[{name}]" for start, end, name in found}
    return marks | {secret.translate(_INVISIBLE): mark for secret, mark in marks.items()}


def _make_plain(text: str) -> str:
    """Return a text to search: marks blanked, Chinese simplified, without invisible characters."""
    # A mark names a kind of secret, and must not be taken for the name of one itself.
    hidden = _MARK.sub(lambda mark: "\0" * len(mark[0]), text) if "[" in text else text
    return hidden if hidden.isascii() else simplify(hidden).translate(_SEEN)


def _move_back(found: Iterable[tuple[int, int, str]], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what was found with its place in the text, invisible characters included."""
    if text.isascii() or not any(chr(code) in text for code in _INVISIBLE):
        yield from found
        return
    places = [place for place, char in enumerate(text) if ord(char) not in _INVISIBLE]
    for start, end, name in found:
        yield places[start], places[end - 1] + 1, name


def _find_secrets(kind: _Kind, plain: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for match in _compile(kind.pattern).finditer(plain):
        start = match.start("secret")
        # Matches of a look-ahead may overlap; a secret is taken once.
        if start >= done and (secret := kind.cut(match)):
            done = start + len(secret)
            yield start, done, kind.name or _SHAPE_NAMES[match.lastgroup or ""]


def _put_marks(text: str, found: Iterable[tuple[int, int, str]]) -> str:
    done = 0
    pieces: list[str] = []
    for start, end, name in found:
        pieces += text[done:start], f"[{name}]"
        done = end
    return "".join((*pieces, text[done:]))


def _cut_whole(match: re.Match[str]) -> str:
    return match["secret"] or match[0]


def _cut_shape(match: re.Match[str]) -> str:
    is_word = _SHAPE_NAMES[match.lastgroup or ""] == "Bitcoin key" and not _is_wif(match[0])
    return "" if is_word else match[0]


def _is_wif(text: str) -> bool:
    """Whether the checksum of a Bitcoin key in Wallet Import Format is right."""
    number = 0
    for char in text:
        number = 58 * number + _BASE58.index(char)
    data = number.to_bytes(_WIF_BYTES, "big")
    body, checksum = data[:-4].lstrip(b"\0"), data[-4:]
    return hashlib.sha256(hashlib.sha256(body).digest()).digest().startswith(checksum)


def _cut_value(match: re.Match[str]) -> str:
    """Return the value after a name: up to a closing quote, or to the end of the run."""
    start = match.start("secret")
    if close := _QUOTES.get(match["quote"]):
        value, found, _ = match.string[start : start + _MAX_SEEN].partition(close)
        if found and "\n" not in value:
            return value
    value = match["secret"]
    if field := _NEXT_FIELD.search(value):
        return value[: field.start()].rstrip(_CLOSING)
    # A value that was cut at the limit goes on, so its last character is no full stop.
    return value if len(value) == _MAX_SEEN else value.rstrip(_CLOSING)


def _cut_password(match: re.Match[str]) -> str:
    """Return a password, unless the name is followed by prose about passwords."""
    value = _cut_value(match)
    # "The password is wrong" and "password=$PASSWORD" tell none.
    if not value or value.lower() in _PROSE or _PLACEHOLDER.fullmatch(value):
        return ""
    after = match.start("secret") + len(value)
    is_any = match["quote"] or match["sign"] or _is_telling(value, match.string, after)
    if is_any or (_ends_clause(match.string, after) and _is_word(value)):
        return _extend_to_run(match, value)
    return ""


def _ends_clause(text: str, after: int) -> bool:
    return _CLAUSE_END.match(text, after, after + _NEAR) is not None


def _cut_lone_password(match: re.Match[str]) -> str:
    """Return a password that follows its name without a verb, if it can be nothing else."""
    value = _cut_value(match)
    after = match.start("secret") + len(value)
    is_long = len(value) >= _MIN_TELLING_ALONE or value.isdigit()
    if not is_long or not any(map(str.isdigit, value)):
        return ""
    return _cut_password(match) if _is_telling(value, match.string, after) else ""


def _cut_leading_password(match: re.Match[str]) -> str:
    """Return a password that stands before its name."""
    value = _cut_value(match)
    return value if _has_digit_and_letter(value) and not _PLACEHOLDER.fullmatch(value) else ""


def _is_telling(value: str, text: str, after: int) -> bool:
    """Whether a value is neither a word nor a measure of something."""
    if len(value) < _MIN_TELLING or _is_measure(text, after) or _MEASURED.fullmatch(value):
        return False
    is_mixed = any(map(str.isdigit, value)) or value.count("-") > 1
    return is_mixed or bool(_SYMBOL.search(value) or _CAMEL.search(value))


def _is_word(value: str) -> bool:
    """Whether a value that ends its clause can be a password all the same."""
    if len(value) < _MIN_WORD or _PROSE_ENDING.search(value):
        return False
    return value.isalpha() or any(map(str.isdigit, value))


def _cut_opaque(match: re.Match[str]) -> str:
    """Return a value that has digits and letters, as keys and tokens have."""
    value = _cut_value(match)
    if _PLACEHOLDER.fullmatch(value) or value.lower() in _PROSE:
        return ""
    return _extend_to_run(match, value) if _has_digit_and_letter(value) else ""


def _extend_to_run(match: re.Match[str], value: str) -> str:
    """Return a secret up to its end, where only its beginning was matched."""
    run = _RUN.match(match.string, match.start("secret"))
    # Patterns look at a bounded length so that their time is linear; the rest is taken here.
    return run[0] if run and len(value) == _MAX_SEEN else value


def _cut_private_key(match: re.Match[str]) -> str:
    """Return a key's block, unless it is empty: people also talk about its two outer lines."""
    return match["secret"] if _PEM_BODY.search(match["secret"]) else ""


def _cut_credentials(match: re.Match[str]) -> str:
    value = match["secret"].rstrip(".,:")
    is_opaque = _has_digit_and_letter(value) or _CAMEL.search(value) or value.endswith("=")
    return value if is_opaque else ""


def _has_digit_and_letter(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _cut_digits(match: re.Match[str]) -> str:
    """Return a named number, unless it counts something."""
    return "" if _is_measure(match.string, match.end("secret")) else match["secret"]


def _is_measure(text: str, after: int) -> bool:
    return _MEASURE.match(text, after, after + _NEAR) is not None


def _cut_mysql_password(match: re.Match[str]) -> str:
    """Return what follows -p in a command; prose about MySQL may hold a dash, too."""
    value = match["secret"]
    before = match[0].removesuffix(value)
    is_command = before.count(" ") == 1 or _LOGIN_OPTION.search(before)
    is_port = ":" in value and value.replace(":", "").isdigit()
    return value if (is_command or _has_digit_and_letter(value)) and not is_port else ""


def _cut_url_password(match: re.Match[str]) -> str:
    return "" if _PLACEHOLDER.fullmatch(match["secret"]) else match["secret"]


def _cut_phrase(match: re.Match[str]) -> str:
    words = match["secret"].lower().replace(",", " ").split()
    return "" if _FUNCTION_WORDS.intersection(words) else match["secret"]


def _cut_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match["secret"] if char.isdigit()]
    # Luhn's checksum, so that order numbers are not taken for cards.
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return "" if (sum(doubled) + sum(digits[::-2])) % 10 else match["secret"]


def _cut_iban(match: re.Match[str]) -> str:
    """Return an account number of its country's length, if its checksum is right."""
    length = _IBAN_LENGTHS.get(match["secret"][:2], 0)
    places = [place for place, char in enumerate(match["secret"]) if char != " "][:length]
    value = match["secret"][: places[-1] + 1] if places else ""
    compact = value.replace(" ", "")
    number = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    # The check digits are chosen so that this remainder is one.
    return value if len(compact) == length and int(number or 0) % 97 == 1 else ""


def _cut_taiwan_id(match: re.Match[str]) -> str:
    """Return an identity or residence number whose check digit is right."""
    value = match["secret"].upper()
    digits = map(int, f"{10 + _TAIWAN_AREAS.index(value[0])}{value[1:]}")
    total = sum(map(mul, digits, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)))
    return "" if total % 10 else match["secret"]


def _cut_chinese_id(match: re.Match[str]) -> str:
    digits = match["secret"]
    total = sum(int(char) * (2 ** (17 - place) % 11) for place, char in enumerate(digits[:17]))
    return digits if "10X98765432"[total % 11] == digits[17].upper() else ""


_BY_SHAPE = "|".join(f"(?P<kind{number}>{shape})" for number, shape in enumerate(_SHAPES.values()))
_SHAPE_NAMES = {f"kind{number}": name for number, name in enumerate(_SHAPES)}
_HINTS = "pass pw psw 密码 口令 通 暗号"
# The order counts: what its shape tells is named by that, before a word beside it names it.
_KINDS = (
    _make_kind(
        "private key",
        "private",
        rf"(?P<secret>-----BEGIN {_PEM_TYPE}{_PEM}(?>(?:(?!-----).)*)-----END {_PEM_TYPE}{_PEM})",
        _cut_private_key,
    ),
    _make_kind(
        "private key",
        "private",
        rf"(?P<secret>-----BEGIN {_PEM_TYPE}{_PEM}{_PEM_HEADERS}(?>(?:{_PEM_LINE})*){_PEM_REST})",
        _cut_private_key,
    ),
    _make_kind(
        "private key",
        "private",
        rf"(?<![A-Za-z0-9+/=])(?P<secret>{_PEM_TAIL}-----END {_PEM_TYPE}{_PEM})",
        _cut_whole,
    ),
    _make_kind(
        "private key",
        "private",
        rf"Private-Lines: \d+(?P<secret>(?>(?:{_PEM_LINE})+){_PEM_REST})",
        _cut_whole,
    ),
    _make_kind(
        "",
        "",
        rf"(?-i:(?<![A-Za-z0-9])(?=[A-Za-z0-9_~./:+-]{{16}})(?P<secret>)(?:{_BY_SHAPE}))",
        _cut_shape,
    ),
    _make_kind(
        "URL password",
        "://",
        r"://[^\s/@:\0]{0,100}:(?P<secret>[^\s/\0]{1,200})@(?=[\w\[])",
        _cut_url_password,
    ),
    _make_kind(
        "Slack webhook",
        "hooks.slack",
        r"hooks\.slack\.com/[a-z]{1,20}/(?P<secret>[A-Za-z0-9_/-]{20,})",
        _cut_whole,
    ),
    _make_kind(
        "Discord webhook",
        "webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_-]{30,})",
        _cut_whole,
    ),
    _make_kind(
        "Teams webhook",
        "webhookb2/",
        r"webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9_@/-]{30,})",
        _cut_whole,
    ),
    _make_number_kind(
        "Telegram token",
        ":",
        r"(?<!\d)(?P<secret>\d{8,10}:[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])",
        _cut_whole,
    ),
    _make_kind(
        "Azure key",
        "accountkey= sharedaccesskey=",
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{20,}={0,2})",
        _cut_whole,
    ),
    _make_kind(
        "Azure SAS",
        "sig=",
        r"(?<![A-Za-z0-9_])sig=(?P<secret>[A-Za-z0-9%+/_-]{30,}+={0,2})",
        _cut_whole,
    ),
    _make_kind(
        "password hash",
        "$apr1$ $2 $1$ $5$ $6$ sha}",
        rf"(?-i:(?<![A-Za-z0-9$])(?P<secret>{_HASH}))",
        _cut_whole,
    ),
    _make_kind(
        "TOTP seed",
        "otpauth",
        r"otpauth://\S{0,300}?secret=(?P<secret>[A-Za-z2-7]{8,})",
        _cut_whole,
    ),
    _make_kind(
        "TOTP seed",
        "otp 2fa mfa auth factor 验证",
        f"{_SEEDS}{_OF}{_IS}{_QUOTE}{_BASE32}",
        _cut_whole,
    ),
    _make_kind(
        "password",
        "wifi:",
        r"WIFI:[^\n]{0,200}?P:(?P<secret>(?:\\.|[^;\\\n\0]){1,100})",
        _cut_whole,
    ),
    _make_kind(
        "password",
        "mysql mariadb",
        f"{_MYSQL}{_IN_SHELL}",
        _cut_mysql_password,
    ),
    _make_kind("password", "curl", rf"{_CURL}(?P<secret>[^\s\"'\0]{{1,200}})", _cut_url_password),
    _make_kind(
        "credentials",
        "authorization",
        rf"{_SCHEME}(?P<secret>[A-Za-z0-9_.~+/=-]{{6,}})",
        _cut_credentials,
    ),
    _make_kind(
        "bearer token",
        "bearer",
        r"(?<![a-z])bearer\s{1,4}(?P<secret>[A-Za-z0-9_.~+/=-]{16,})",
        _cut_credentials,
    ),
    _make_kind(
        "session cookie",
        "session sid csrf",
        rf"{_COOKIE}(?P<secret>[A-Za-z0-9_%.:~+/-]{{16,}})",
        _cut_credentials,
    ),
    _make_kind(
        "AWS secret key", "aws access", f"{_AWS}{_OF}{_IS}{_QUOTE}{_FORTY}", _cut_credentials
    ),
    _make_kind(
        "passphrase",
        "phrase words mnemonic 助",
        f"{_PHRASES}{_OF}{_IS}{_QUOTE}{_WORDS}",
        _cut_phrase,
    ),
    _make_kind("password", _HINTS, f"{_PASSWORDS}{_OF}{_IS}{_QUOTE}{_ANY}", _cut_password),
    _make_kind(
        "password",
        "pass",
        rf"(?:\A|[\n,;/|({{&\"'])\s?pass[\"']?\s?(?P<sign>[:=])\s?{_QUOTE}{_ANY}",
        _cut_password,
    ),
    _make_kind(
        "password",
        "pass",
        rf"{_PASS}[\"']?\s?(?P<sign>[:=])\s?{_QUOTE}{_ANY}",
        _cut_password,
    ),
    _make_kind(
        "password",
        _HINTS,
        rf"{_PASSWORDS}(?:\s+(?:to|as)|请?用)?\s{{0,4}}(?P<sign>){_QUOTE}{_ANY}",
        _cut_lone_password,
    ),
    _make_kind("password", _HINTS, f"{_PASSWORDS}{_IS}{_NUMERALS}", _cut_whole),
    _make_kind("password", _HINTS, _FIRST, _cut_leading_password),
    _make_kind(
        "PIN", "pin", rf"{_PIN}{_OF}{_IS}{_QUOTE}(?P<secret>\d{{4,12}})(?!\d|\.\d)", _cut_digits
    ),
    _make_kind(
        "PIN",
        "pin",
        r"(?-i:(?<![A-Za-z])PIN)(?:[ -]?(?:code|码))?\s?(?P<secret>\d{4,12})(?!\d)",
        _cut_digits,
    ),
    _make_kind(
        "CVV",
        "cv security 安全码 检核码",
        rf"{_CVV}(?:{_IS}|\s?){_QUOTE}(?P<secret>\d{{3,4}})(?!\d)",
        _cut_digits,
    ),
    _make_kind(
        "code",
        "code combination otp 码",
        rf"{_CODES}(?:{_OF}{_IS}|\s?){_QUOTE}{_CODE}",
        _cut_digits,
    ),
    _make_kind(
        "recovery code",
        "code 码",
        rf"{_BACKUP_CODES}{_OF}{_IS}{_QUOTE}(?P<secret>{_MIXED}(?:[ ,、]{{1,2}}{_MIXED})*)",
        _cut_whole,
    ),
    _make_kind("API key", "key 钥", f"{_KEYS}{_OF}{_IS}{_QUOTE}{_OPAQUE}", _cut_opaque),
    _make_kind("API key", "key 钥", rf"{_KEYS}\s{{1,4}}{_QUOTE}{_LONG_OPAQUE}", _cut_opaque),
    _make_kind(
        "token", "token 权杖 令牌 存取码", f"{_TOKENS}{_OF}{_IS}{_QUOTE}{_OPAQUE}", _cut_opaque
    ),
    _make_kind(
        "token", "token 权杖 令牌 存取码", rf"{_TOKENS}\s{{1,4}}{_QUOTE}{_LONG_OPAQUE}", _cut_opaque
    ),
    _make_kind("secret", "secret", f"{_SECRETS}{_OF}{_IS}{_QUOTE}{_OPAQUE}", _cut_opaque),
    _make_kind("secret", "secret", rf"{_SECRETS}\s{{1,4}}{_QUOTE}{_LONG_OPAQUE}", _cut_opaque),
    _make_number_kind(
        "card number",
        "",
        rf"(?<![A-Za-z0-9_.-]){_CARD}(?![A-Za-z0-9_]|[.-][A-Za-z0-9])",
        _cut_card,
    ),
    _make_number_kind("IBAN", "", rf"(?-i:(?<![A-Za-z0-9]){_IBAN}(?![A-Za-z0-9]))", _cut_iban),
    _make_number_kind(
        "Taiwan ID",
        "",
        r"(?-i:(?<![A-Za-z0-9])(?P<secret>[A-Za-z][1289]\d{8})(?![A-Za-z0-9_-]))",
        _cut_taiwan_id,
    ),
    _make_number_kind(
        "Chinese ID", "", rf"(?<![A-Za-z0-9]){_CHINESE_ID}(?![A-Za-z0-9])", _cut_chinese_id
    ),
    _make_kind(
        "SSN",
        "ssn social",
        rf"{_SSN}(?:{_IS}|\s?)(?P<secret>\d{{3}}[- ]?\d\d[- ]?\d{{4}})(?!\d)",
        _cut_whole,
    ),
)

KINDS = (*_SHAPES, *dict.fromkeys(kind.name for kind in _KINDS if kind.name not in {"", *_SHAPES}))
"""What a mark may name."""

MARK = rf"\[(?:{'|'.join(map(re.escape, KINDS))})\]"
_MARK = make_pattern(MARK)


_PART = "masked_facts"
_FEWEST_TERMS = 2
_NOTED = make_pattern(MARK)
_OPENING_MARKS = "[\\s\"'`*“‘「『(（]{0,4}"
_CLOSING_MARKS = "[\"'`*”’」』)）]*"
# A command, or what is set for one, with a secret in it: nobody can use it without.
_ARGUMENT = r"[^\s\u4e00-\u9fff]"
_WORDS_OF_PROSE = r"(?:is|are|was|were|for|that|which|when|to)\b"
_REST = rf"{_ARGUMENT}*+(?>(?:\s++(?!{_WORDS_OF_PROSE}){_ARGUMENT}++){{0,20}})\s*+"
_ASSIGNED = rf"[\w.-]{{1,60}}+=[\"']?{MARK}"
_PASSED = (
    r"(?:sudo\s)?(?:mysql|mariadb|curl)[\w-]{0,10}+\s[^\n]{0,300}?"
    rf"-[\w-]{{1,20}}+(?:[\s=][^\s:]{{1,60}}+:)?=?[\"']?{MARK}"
)
_COMMAND = make_pattern(rf"\W*+(?:export\s|set\s)?(?:{_ASSIGNED}|{_PASSED}){_REST}")


def mask_fact(text: str, said: str = "") -> str:
    """Return a fact with its secrets masked; "" where it says nothing else.

    What is a secret in `said`, the words that it rests on, is one in the fact as well.
    """
    content = mask_secrets(text, said)
    return "" if content != text and not _says_more(content) else content


def _says_more(content: str) -> bool:
    """Whether a masked fact says anything beside its secrets."""
    clauses = _find("joint", r"[.](?=\s|\Z)|[,;!?\n，。；！？、]|").split(simplify(content))
    rest = [clause for clause in clauses if not _is_empty(clause)]
    # A fact whose only content is "[password]" would be in every prompt and help nobody.
    has_own = any(not _NOTED.search(clause) and _list_terms(clause) for clause in rest)
    return has_own or len(_list_terms(" ".join(rest))) >= _FEWEST_TERMS


def _is_empty(clause: str) -> bool:
    is_aside = _find("aside", r"\s*+").match(clause) is not None
    return is_aside or any(one.fullmatch(clause) for one in (*_load_statements(), _COMMAND))


@cache
def _load_statements() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of clauses with a secret after its name, and before it."""
    being = f"(?:{join_patterns(_PART, 'being')}|[=＝:：→>]|->)"
    after = f"(?:{join_patterns(_PART, 'after')}|[ ]*)"
    first = _find("being_first", rf"\W*{MARK}\s?", ".*")
    return compile_pattern(f".*{being}{_OPENING_MARKS}{MARK}{_CLOSING_MARKS}{after}"), first


def _find(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return find_pattern(_PART, name, before, after)


@cache
def _load_names() -> frozenset[str]:
    """Return the terms that name secrets."""
    return frozenset(parse_query(join_texts(_PART, "names")).terms)


def _list_terms(text: str) -> set[str]:
    """Return the telling terms that do not merely name a secret."""
    return {*parse_query(_NOTED.sub(" ", text)).terms} - _load_names()
