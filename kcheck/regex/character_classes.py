r"""Sets of characters as written in Go regular expressions: ranges, \d, [:alpha:], \p{Lu}."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kcheck.text.pattern import pattern

Item = tuple[str, str]
"""A range of two characters, or "category" or "script" and its name."""

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


_CASED_LETTERS: tuple[Item, ...] = (("category", "Lu"), ("category", "Ll"), ("category", "Lt"))


class Charset:
    """A set of characters. `fold`: ignore case. `negated`: the set contains all other characters."""

    __slots__ = ("fold", "items", "negated")

    def __init__(self, items: tuple[Item, ...], negated: bool = False, fold: bool = False) -> None:
        self.items = items
        self.negated = negated
        self.fold = fold

    def __contains__(self, char: str) -> bool:
        found = any(_holds(item, each) for each in (cases(char) if self.fold else char) for item in self.items)
        return found is not self.negated


@lru_cache(maxsize=64)
def named(name: str) -> tuple[Item, ...] | None:
    r"""Return the characters of \p{name}, a general category or a script; None for an unknown name. Case is ignored."""
    normalized = re.sub("[ _-]", "", name)
    normalized = normalized[:1].upper() + normalized[1:].lower() if normalized.isascii() else ""
    special = {"Any": ALL, "Ascii": POSIX["ascii"], "Assigned": (("not category", "Cn"),), "Lc": _CASED_LETTERS}.get(normalized)
    if special is not None:
        return special
    if _CATEGORY.fullmatch(normalized):
        return (("category", normalized),)
    for entry in _CATEGORIES.split():
        category, _, names = entry.partition("=")
        if normalized.lower() in names.split(","):
            return _CASED_LETTERS if category == "LC" else (("category", category),)
    return (("script", normalized),) if normalized in _SCRIPT_NAMES.split() else None


def inverted(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return all other characters, for a negated class within another class."""
    if any(low in ("category", "script", "not category", "not script") for low, _ in items):
        return tuple((low[4:] if low.startswith("not ") else f"not {low}", name) for low, name in items)
    result: list[Item] = []
    place = 0
    for low, high in sorted(items):
        if ord(low) > place:
            result.append((chr(place), chr(ord(low) - 1)))
        place = max(place, ord(high) + 1)
    if place <= 0x10FFFF:
        result.append((chr(place), chr(0x10FFFF)))
    return tuple(result)


@lru_cache(maxsize=512)
def cases(char: str) -> frozenset[str]:
    """Return the characters that differ from a character only in case."""
    found = {char, *(each for each in (char.lower(), char.upper(), char.title(), char.casefold()) if len(each) == 1)}
    for each in tuple(found):
        found |= {other for other in (each.lower(), each.upper()) if len(other) == 1}
    for orbit in ({"k", "K", "\u212a"}, {"s", "S", "\u017f"}, {"\u00e5", "\u00c5", "\u212b"}):
        if found & orbit:
            found |= orbit
    return frozenset(found)


def _holds(item: Item, char: str) -> bool:
    low, high = item
    if len(low) == 1:
        return low <= char <= high
    if low.startswith("not "):
        return not _holds((low[4:], high), char)
    if low == "category":
        return unicodedata.category(char).startswith(high)
    return _is_of_script(char, high)


@lru_cache(maxsize=1024)
def _is_of_script(char: str, script: str) -> bool:
    name = unicodedata.name(char, "")
    letter = unicodedata.category(char)[0] in "LMN"
    if script == "Common":
        return not letter
    return letter and name.startswith(_SCRIPTS.get(script, (script.upper().replace("_", " ") + " ",)))
