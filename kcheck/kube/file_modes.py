"""File modes of mounted files. YAML reads `0400` as octal, so the API server receives 256; JSON has only decimal numbers."""

from __future__ import annotations

from kcheck.text.complaint import Complaint

HIGHEST = 0o777

# Modes that manifests use. A number without leading zero is most likely one of them.
_USUAL = frozenset(
    {0o400, 0o404, 0o440, 0o444, 0o500, 0o550, 0o555, 0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o700, 0o711}
    | {0o744, 0o750, 0o755, 0o770, 0o775, 0o777}
)


def mode(value: int) -> str:
    """Return "" for a mode that the API server accepts, otherwise a Complaint."""
    if 0 <= value <= HIGHEST:
        return ""
    intended_mode = intended(value)
    help = f"did you mean {octal(intended_mode)}?" if intended_mode is not None else "use an octal number with a leading zero, such as 0644"
    return Complaint(f"file mode {value} is out of range (0 to 0777, decimal 511)", help)


def octal(value: int) -> str:
    """Return the mode in the octal notation of YAML, with a leading zero: 256 is `0400`."""
    return f"0{value:o}"


def intended(value: int) -> int | None:
    """Return the mode that was probably intended by a number without leading zero, None if the number is plausible as it is.

    `400` is the mode 0620, which is not used; its digits read as octal are the common mode 0400. 420 is the common mode 0644 and therefore
    plausible.
    """
    digits = str(value)
    if not 3 <= len(digits) <= 4 or not set(digits) <= set("01234567") or value in _USUAL:
        return None
    read = int(digits, 8)
    return read if read in _USUAL else None
