"""Fields that the API server drops because their feature gate is off by default.

The tables are kcheck/kube/feature_gates.py, the versions of each gate, and kcheck/schema/builtin/gated_fields.py, the fields. The walk
over an object reports the fields that it drops.
"""

from __future__ import annotations

from kcheck.api import WARNING, Option, declare

disabled_feature_gate = declare(
    "disabled-feature-gate",
    "Field is dropped because its feature gate is disabled by default",
    severity=WARNING,
    family="practice",
    groups=("upgrades",),
    options=[Option("enabled", tuple, (), "feature gates that are enabled in your clusters")],
)
