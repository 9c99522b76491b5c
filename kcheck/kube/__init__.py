"""Types and formats of Kubernetes: names, labels, selectors, quantities, images, ports, Pods and objects."""
