"""Helm charts: their templates, what `helm template` makes of them, and where each rendered character comes from."""
