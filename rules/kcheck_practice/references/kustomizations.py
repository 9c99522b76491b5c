"""What is wrong with a kustomization.yaml. The engine finds it, for it has to look into folders."""

from kcheck.api import ERROR, declare

missing_file = declare(
    "missing-kustomization-file",
    "kustomization.yaml references a file or directory that does not exist",
    severity=ERROR,
    groups=("relations",),
    family="practice",
)
