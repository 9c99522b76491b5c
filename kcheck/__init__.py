"""Linter for Kubernetes manifests."""

__version__ = "0.2.0"
