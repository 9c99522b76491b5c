"""File modes of mounted files. YAML reads `0400` as octal, so the server sees 256; JSON has decimal numbers only."""

from __future__ import annotations

from kcheck.text.complaint import Complaint

HIGHEST = 0o777

# Modes that manifests ask for in earnest; what is written without the leading zero is most likely one of them.
_USUAL = frozenset(
    {0o400, 0o404, 0o440, 0o444, 0o500, 0o550, 0o555, 0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o700, 0o711}
    | {0o744, 0o750, 0o755, 0o770, 0o775, 0o777}
)


def mode(value: int) -> str:
    """Empty for a mode that the server takes, else what is wrong and what to write."""
    if 0 <= value <= HIGHEST:
        return ""
    meant = intended(value)
    remedy = f"did you mean {octal(meant)}?" if meant is not None else "use an octal number with a leading zero, such as 0644"
    return Complaint(f"file mode {value} is out of range (0 to 0777, decimal 511)", remedy)


def octal(value: int) -> str:
    """The mode as YAML writes it, with its leading zero: 256 is `0400`."""
    return f"0{value:o}"


def intended(value: int) -> int | None:
    """The mode that a number without leading zero was meant to be, None where it makes sense as it stands.

    `400` is the mode 0620, which nobody wants; read as octal digits it is the usual 0400. 420 is the usual 0644 and so no slip.
    """
    digits = str(value)
    if not 3 <= len(digits) <= 4 or not set(digits) <= set("01234567") or value in _USUAL:
        return None
    read = int(digits, 8)
    return read if read in _USUAL else None
