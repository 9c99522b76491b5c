"""What is wrong with a kustomization.yaml. The engine finds it, for it has to look into folders."""

from kcheck.api import ERROR, declare

missing_file = declare(
    "missing-file",
    "a file that a kustomization names and that is not there",
    severity=ERROR,
    groups=("relations",),
    family="practice",
)
