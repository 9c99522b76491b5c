"""File modes."""

import pytest

from kcheck.kube import file_modes
from kcheck.text.complaint import concise


@pytest.mark.parametrize(("value", "fine"), [(0, True), (256, True), (0o777, True), (0o1000, False), (-1, False), (644, False)])
def test_mode(value: int, fine: bool) -> None:
    assert (file_modes.mode(value) == "") is fine


@pytest.mark.parametrize(
    ("value", "meant"),
    [(400, 0o400), (644, 0o644), (755, 0o755), (440, 0o440), (420, None), (511, None), (256, None), (0, None), (9, None)],
)
def test_intended(value: int, meant: int | None) -> None:
    assert file_modes.intended(value) == meant


def test_messages_write_octal() -> None:
    assert file_modes.octal(256) == "0400"
    assert concise(file_modes.mode(755)) == "file mode 755 is out of range (0 to 0777, decimal 511); did you mean 0755?"
