"""Replaces personal data by placeholders, all through a result."""

from __future__ import annotations

import re
from typing import Any

import kinds


class Redactor:
    """Gives the same value the same placeholder as long as it lives."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def clean(self, value: Any) -> Any:
        """Returns a value without personal data. The keys of objects stay."""
        if isinstance(value, str):
            return self._clean_text(value)
        if isinstance(value, dict):
            return {key: self.clean(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, int) and kinds.is_card(digits := str(value)):
            return self._placeholder("card", digits)
        return value

    def counts(self) -> dict[str, int]:
        """Returns how many different values of each kind were found."""
        return {kind: len(values) for kind, values in self._numbers.items()}

    def _clean_text(self, text: str) -> str:
        return kinds.NUMBER.sub(self._number, self._clean_emails(text))

    def _clean_emails(self, text: str) -> str:
        clean: list[str] = []
        done = 0
        for domain in kinds.DOMAIN.finditer(text):
            at = domain.start()
            mailbox = kinds.MAILBOX.search(text, max(done, at - 64), at)
            # git@host:path is how a repository is written, not a person.
            if mailbox and mailbox[0] != "git":
                address = mailbox[0] + domain[0]
                clean += text[done : mailbox.start()], self._email(address)
                done = domain.end()
        return "".join(clean) + text[done:]

    def _email(self, address: str) -> str:
        return self._placeholder("email", address.lower())

    def _number(self, match: re.Match[str]) -> str:
        kind, check = kinds.CHECKS[match.lastgroup or ""]
        value = check(match)
        return match[0] if value is None else self._placeholder(kind, value)

    def _placeholder(self, kind: str, value: str) -> str:
        known = self._numbers.setdefault(kind, {})
        return f"[{kind}-{known.setdefault(value, len(known) + 1)}]"
