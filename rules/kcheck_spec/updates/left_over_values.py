"""Values of the stored object that an apply keeps. The engine reports them (kcheck/check/changes.py)."""

from __future__ import annotations

from kcheck.api import declare

left_over_value = declare("left-over-value", "Value of the stored object stays after an apply and conflicts with the new manifest")
