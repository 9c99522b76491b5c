"""From other linters to kcheck: their configs to ours, their ignores in manifests to ours."""
