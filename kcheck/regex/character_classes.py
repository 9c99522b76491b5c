r"""Sets of characters as written in Go regular expressions: ranges, \d, [:alpha:], \p{Lu}."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from kcheck.text.pattern import pattern

Item: TypeAlias = "tuple[str, str] | Charset"
"""A range of two characters, "category" or "script" and its name, or another set."""

ALL: tuple[Item, ...] = (("\0", chr(0x10FFFF)),)

_DIGIT: tuple[Item, ...] = (("0", "9"),)
_UPPER: tuple[Item, ...] = (("A", "Z"),)
_LOWER: tuple[Item, ...] = (("a", "z"),)
_ALPHA = _UPPER + _LOWER
_PUNCT: tuple[Item, ...] = (("!", "/"), (":", "@"), ("[", "`"), ("{", "~"))

PERL: dict[str, tuple[Item, ...]] = {"d": _DIGIT, "s": (("\t", "\n"), ("\f", "\r"), (" ", " ")), "w": (*_DIGIT, *_ALPHA, ("_", "_"))}
POSIX: dict[str, tuple[Item, ...]] = {
    "alnum": _DIGIT + _ALPHA, "alpha": _ALPHA, "ascii": (("\0", "\x7f"),), "blank": (("\t", "\t"), (" ", " ")),
    "cntrl": (("\0", "\x1f"), ("\x7f", "\x7f")), "digit": _DIGIT, "graph": (("!", "~"),), "lower": _LOWER, "print": ((" ", "~"),),
    "punct": _PUNCT, "space": (("\t", "\r"), (" ", " ")), "upper": _UPPER, "word": PERL["w"], "xdigit": (*_DIGIT, ("A", "F"), ("a", "f")),
}  # fmt: skip

_CATEGORY = pattern("C[cfnos]?|L[lmotuc]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
# The long names of categories, and the scripts with names of one word: Go ignores spaces, '_' and '-' when it compares names.
_CATEGORIES = """
    C=other Cc=cntrl,control Cf=format Cn=unassigned Co=privateuse Cs=surrogate L=letter LC=casedletter Ll=lowercaseletter
    Lm=modifierletter Lo=otherletter Lt=titlecaseletter Lu=uppercaseletter M=combiningmark,mark Mc=spacingmark Me=enclosingmark
    Mn=nonspacingmark N=number Nd=decimalnumber,digit Nl=letternumber No=othernumber P=punct,punctuation Pc=connectorpunctuation
    Pd=dashpunctuation Pe=closepunctuation Pf=finalpunctuation Pi=initialpunctuation Po=otherpunctuation Ps=openpunctuation
    S=symbol Sc=currencysymbol Sk=modifiersymbol Sm=mathsymbol So=othersymbol Z=separator Zl=lineseparator Zp=paragraphseparator
    Zs=spaceseparator
"""
_SCRIPT_NAMES = """
    Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Carian Chakma
    Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan Elymaic Ethiopic
    Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi
    Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam
    Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham
    Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo
    Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai
    Vithkuqi Wancho Yezidi Yi
"""
# Python has no table of scripts; the Unicode names of characters begin with the script.
_SCRIPTS = {"Han": ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "CJK RADICAL", "KANGXI RADICAL", "IDEOGRAPHIC")}

# The characters with more than two cases, and \u00df, which `str.upper` maps to two characters.
_CASE_ORBITS = """
    Kk\u212a Ss\u017f \u00b5\u039c\u03bc \u00c5\u00e5\u212b \u00df\u1e9e \u01c4\u01c5\u01c6 \u01c7\u01c8\u01c9 \u01ca\u01cb\u01cc
    \u01f1\u01f2\u01f3 \u0345\u0399\u03b9\u1fbe \u0392\u03b2\u03d0 \u0395\u03b5\u03f5 \u0398\u03b8\u03d1\u03f4 \u039a\u03ba\u03f0
    \u03a0\u03c0\u03d6 \u03a1\u03c1\u03f1 \u03a3\u03c2\u03c3 \u03a6\u03c6\u03d5 \u03a9\u03c9\u2126 \u0412\u0432\u1c80
    \u0414\u0434\u1c81 \u041e\u043e\u1c82 \u0421\u0441\u1c83 \u0422\u0442\u1c84\u1c85 \u042a\u044a\u1c86 \u0462\u0463\u1c87
    \u1c88\ua64a\ua64b \u1e60\u1e61\u1e9b
"""
_DOTLESS_I = "\u0131"
_CASED_LETTERS: tuple[Item, ...] = (("category", "Lu"), ("category", "Ll"), ("category", "Lt"))


_MAX_KNOWN = 512
"""The characters that a set remembers."""


class Charset:
    """A set of characters. `fold`: ignore case. `negated`: the set contains all other characters."""

    __slots__ = ("_known", "fold", "items", "negated")

    def __init__(self, items: tuple[Item, ...], negated: bool = False, fold: bool = False) -> None:
        self.items = items
        self.negated = negated
        self.fold = fold
        # Texts repeat few characters.
        self._known: dict[str, bool] = {}

    def __contains__(self, char: str) -> bool:
        known = self._known.get(char)
        if known is None:
            known = self._contains(char)
            if len(self._known) < _MAX_KNOWN:
                self._known[char] = known
        return known

    def _contains(self, char: str) -> bool:
        chars = cases(char) if self.fold else (char,)
        found = any(char in item if isinstance(item, Charset) else _any_in(chars, item) for item in self.items)
        return found is not self.negated


_ASSIGNED = Charset((("category", "Cn"),), negated=True)
_SPECIAL: dict[str, tuple[Item, ...]] = {"Any": ALL, "Ascii": POSIX["ascii"], "Assigned": (_ASSIGNED,), "Lc": _CASED_LETTERS}


@lru_cache(maxsize=64)
def named(name: str) -> tuple[Item, ...] | None:
    r"""Return the characters of \p{name}, a general category or a script; None for an unknown name. Case is ignored."""
    normalized = re.sub("[ _-]", "", name)
    normalized = normalized[:1].upper() + normalized[1:].lower() if normalized.isascii() else ""
    special = {"Any": ALL, "Ascii": POSIX["ascii"], "Assigned": (Charset((("category", "Cn"),), negated=True),), "Lc": _CASED_LETTERS}.get(
        normalized
    )
    if special is not None:
        return special
    if _CATEGORY.fullmatch(normalized):
        return (("category", normalized),)
    for entry in _CATEGORIES.split():
        category, _, names = entry.partition("=")
        if normalized.lower() in names.split(","):
            return _CASED_LETTERS if category == "LC" else (("category", category),)
    return (("script", normalized),) if normalized in _SCRIPT_NAMES.split() else None


@lru_cache(maxsize=512)
def cases(char: str) -> frozenset[str]:
    """Return the characters that differ from a character only in case: Unicode's simple case folding, which has no language."""
    for each in _CASE_ORBITS.split():
        if char in each:
            return frozenset(each)
    if char == _DOTLESS_I:
        return frozenset(char)
    return frozenset({char, *(each for each in (char.lower(), char.upper(), char.title(), char.casefold()) if len(each) == 1)})


def _any_in(chars: Iterable[str], item: tuple[str, str]) -> bool:
    low, high = item
    if len(low) == 1:
        return any(low <= char <= high for char in chars)
    if low == "category":
        return any(unicodedata.category(char).startswith(high) for char in chars)
    return any(_is_of_script(char, high) for char in chars)


@lru_cache(maxsize=1024)
def _is_of_script(char: str, script: str) -> bool:
    name = unicodedata.name(char, "")
    letter = unicodedata.category(char)[0] in "LMN"
    if script == "Common":
        return not letter
    return letter and name.startswith(_SCRIPTS.get(script, (script.upper().replace("_", " ") + " ",)))
