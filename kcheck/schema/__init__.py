"""Schemas of Kubernetes objects: shapes of the API types and the definitions of each Kubernetes version."""
