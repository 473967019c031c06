"""The kinds of personal data: what each looks like, and how it is told from the
numbers and names that only look like it.

All but e-mail addresses are found by one pattern. It begins with the characters any of
them starts with, and looks back only then: `re` skips all others quickly, which counts
in a long file.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

# The part of an e-mail address from the @ on, and the part before it. Looking for the
# rare @ first is several times faster than looking for a word in front of one.
DOMAIN = re.compile(r"@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
MAILBOX = re.compile(r"\w[\w.+-]{0,63}\Z")

# How long an IBAN is, by country.
IBAN_LENGTHS = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH CR HR LI LV",
    22: "BG BH DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}

IBAN = "|".join(
    rf"(?<={country[0]}){country[1]}\d\d(?:[ ]?[A-Z\d]){{{length - 4}}}"
    for length, countries in IBAN_LENGTHS.items()
    for country in countries.split()
)

# Each alternative looks back at the first character, which is taken already.
NUMBER = re.compile(
    rf"""
    [+(0-9A-Z] (?<![\w.+-].)
    (?: (?P<iban> (?<=[A-Z]) (?=[A-Z]\d\d) (?:{IBAN}) (?!\w) )
      | (?P<ipv6> (?<=[23]) (?<!:.) [\dA-Fa-f]{{3}} : [\dA-Fa-f:]{{1,34}} (?![\w:]) )
      | (?P<ipv4> (?<=\d) \d{{0,2}} (?:\.\d{{1,3}}){{3}} (?![\w-]|\.\w) )
      | (?P<ssn> (?<=[0-8]) \d\d (?<!000) (?<!666)
            - (?!00)\d\d - (?!0000)\d{{4}} (?![\w-]) )
      | (?P<card> (?<=[2-6]) (?:[ -]?\d){{13,15}} (?![\w-]) )
      | (?P<phone>
          (?<!\d[ ]\d)  # after another number it is a part of something longer
          (?: (?:(?<=\+)|(?<=0)0(?=[1-9]\d{{0,2}}[ /-]))  # +49 30 1234567, 0049 …
              [1-9] (?:[ ./-]{{0,2}}\(?\d\)?){{6,13}}
            | (?<=\() [2-9]\d\d\)[ ]? [2-9]\d\d [ .-] \d{{4}}  # (555) 234-5678
            | (?<=[2-9]) \d\d (?P<gap>[.-]) [2-9]\d\d (?P=gap) \d{{4}}  # 555-234-5678
            | (?<=0) [1-9]\d{{1,4}} [ /-] \d{{3,8}}  # 030 1234567
              (?:[ -]\d{{2,8}}){{0,3}}
            | (?<=0) (?<![\dA-Fa-f]{{2}}[ ].)  # 01 23 45 67 89, but not a row of bytes
              [1-9] (?:[ .-]\d\d){{4}} (?![ ][\dA-Fa-f]{{2}}\b)
          ) (?![\w-]|\.\d) )
    )
    """,
    re.ASCII | re.VERBOSE,
)

# The networks' prefixes and lengths, so that one in ten other numbers does not pass.
NETWORKS = re.compile(
    r"4\d{15}|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|6(?:011|4[4-9]\d|5\d\d)\d{12}"
)

# What makes 1.2.3.4 a version: `version 1.2.3.4`, `tool==1.2.3.4`, `Tool/1.2.3.4`.
BEFORE_A_VERSION = re.compile(r"(?:version|release|build|==|[A-Za-z]/)\W{0,3}$", re.I)


def iban(match: re.Match[str]) -> str | None:
    """Returns an account's number if its check digits are right."""
    compact = match[0].replace(" ", "")
    # The letters count as 10 to 35, after the first four have gone to the end.
    number = "".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])
    return compact if int(number) % 97 == 1 else None


def card(match: re.Match[str]) -> str | None:
    """Returns a card's number if it can be one."""
    digits = re.sub(r"[ -]", "", match[0])
    return digits if is_card(digits) else None


def is_card(digits: str) -> bool:
    """Says whether a network has such numbers, and the check digit is right."""
    if not NETWORKS.fullmatch(digits):
        return False
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    plain = (int(digit) for digit in digits[-1::-2])
    return (sum(plain) + sum(n - 9 if n > 9 else n for n in doubled)) % 10 == 0


def ip(match: re.Match[str]) -> str | None:
    """Returns an address that somebody on the internet can have."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    return None if BEFORE_A_VERSION.search(before) else public_address(match[0])


@lru_cache(maxsize=1024)  # a log repeats a few addresses in thousands of lines
def public_address(text: str) -> str | None:
    """Returns an address in one spelling; none if it is private, or no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return str(address) if address.is_global else None


def ssn(match: re.Match[str]) -> str | None:
    """Returns a US social security number; the pattern leaves out impossible ones."""
    return match[0]


def phone(match: re.Match[str]) -> str | None:
    """Returns the digits of a phone number if it is neither too short nor too long."""
    digits = re.sub(r"\D", "", match[0])
    return digits if 9 <= len(digits) <= 15 else None


CHECKS: dict[str, tuple[str, Callable[[re.Match[str]], str | None]]] = {
    "card": ("card", card),
    "iban": ("iban", iban),
    "ipv4": ("ip", ip),
    "ipv6": ("ip", ip),
    "phone": ("phone", phone),
    "ssn": ("ssn", ssn),
}
"""The kind and the check for each group of the pattern."""
