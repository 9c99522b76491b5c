"""Helm charts that cannot be checked. The engine reports these rules, because it runs helm.

Sources: the documentation of Helm, "helm template", "Charts", "Chart Development Tips and Tricks".
"""

from __future__ import annotations

from kcheck.api import ERROR, INFO, declare

# kcheck/run/charts.py reports them.
failed_render = declare(
    "failed-chart-render",
    "helm cannot render the chart",
    severity=ERROR,
    groups=("charts",),
    family="practice",
)

unrendered = declare(
    "unrendered-chart",
    "Chart was not checked because helm is not installed",
    severity=INFO,
    groups=("charts",),
    family="practice",
)
