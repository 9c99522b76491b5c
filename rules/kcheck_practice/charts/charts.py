"""Mistakes in Helm charts, and charts that cannot be checked. The engine reports these rules, because it runs helm.

Sources: the documentation of Helm, "helm template", "Charts", "Chart Development Tips and Tricks".
"""

from __future__ import annotations

from kcheck.api import ERROR, INFO, WARNING, declare

# kcheck/run/charts.py reports them.
failed_render = declare(
    "failed-chart-render",
    "helm cannot render the chart",
    severity=WARNING,
    groups=("charts",),
    family="practice",
)

unrendered = declare(
    "unrendered-chart",
    "Chart was not checked, for example because helm is not installed",
    severity=INFO,
    groups=("charts",),
    family="practice",
)

unused_value = declare(
    "unused-chart-value",
    "No template of the chart reads the value",
    severity=INFO,
    groups=("charts", "unused"),
    family="practice",
)

misspelled_value = declare(
    "misspelled-chart-value",
    "Unknown value of a chart that resembles a known one",
    severity=WARNING,
    groups=("charts",),
    family="practice",
)

undeclared_value = declare(
    "undeclared-chart-value",
    "Template reads a value that values.yaml does not contain",
    severity=INFO,
    groups=("charts",),
    family="practice",
)

undefined_template = declare(
    "undefined-chart-template",
    "Template calls a named template that nothing defines",
    severity=ERROR,
    groups=("charts",),
    family="practice",
)
