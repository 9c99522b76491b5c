"""Paths in manifests: what the API server says of '..' and of a leading '/'.

Source: validatePathNoBacksteps, validateLocalDescendingPath and ValidateLocalNonReservedPath (pkg/apis/core/validation). Each rule
returns its complaint, or "".
"""

from __future__ import annotations

from kcheck.api import Complaint


def no_backsteps(path: str) -> str:
    """No part of the path is '..'."""
    return Complaint(f"{path} climbs up with '..'", "write the path that is meant") if ".." in path.split("/") else ""


def descending(path: str) -> str:
    """Relative, and downwards only."""
    if path.startswith("/"):
        return Complaint(f"{path} begins with '/'", f"write a relative path, {path.lstrip('/') or 'data'}")
    return no_backsteps(path)


def local(path: str) -> str:
    """Downwards, and not under a name that begins with '..', which the kubelet keeps for itself."""
    if wrong := descending(path):
        return wrong
    return Complaint(f"{path} begins with '..', which the kubelet keeps for itself", "write another name") if path.startswith("..") else ""
