"""Files and directories that a kustomization.yaml references. kcheck/run/kustomizations.py finds the problems, as it reads directories."""

from kcheck.api import ERROR, declare

missing_file = declare(
    "missing-kustomization-file",
    "kustomization.yaml references a file or directory that does not exist",
    severity=ERROR,
    groups=("relations",),
    family="practice",
)
