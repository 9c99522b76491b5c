"""What `kustomize build` makes of kustomizations, with the place that each part of an object comes from."""
