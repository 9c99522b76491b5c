"""The domain of Kubernetes on strings and numbers: names, labels, selectors, quantities, images, ports."""
