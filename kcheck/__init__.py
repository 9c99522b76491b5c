"""kcheck: what the API server would say of your manifests, offline, and what it accepts and you will regret."""

__version__ = "0.1.0"
