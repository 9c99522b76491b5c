"""Paths in manifests: '..' and a leading '/'.

Source: validatePathNoBacksteps, validateLocalDescendingPath and ValidateLocalNonReservedPath (pkg/apis/core/validation). Each
function returns a Complaint, or "".
"""

from __future__ import annotations

from kcheck.api import Complaint


def no_backsteps(path: str) -> str:
    """No part of the path may be '..'."""
    return Complaint(f'path "{path}" contains ".."', 'use a path without ".."') if ".." in path.split("/") else ""


def descending(path: str) -> str:
    """The path must be relative and without '..'."""
    if path.startswith("/"):
        return Complaint(f'path "{path}" is not relative', f'use a relative path, such as "{path.lstrip("/") or "data"}"')
    return no_backsteps(path)


def local(path: str) -> str:
    """The path must be descending and not begin with '..', which the kubelet reserves."""
    if wrong := descending(path):
        return wrong
    message = f'path "{path}" begins with "..", which is reserved for the kubelet'
    return Complaint(message, "use a name without leading dots") if path.startswith("..") else ""
