"""Short rules in CEL: policies of a config or of `*.kcheck.yaml` files, statically typed against the kinds that they apply to."""
