"""CEL as the API server runs it: parser, type checker, cost, evaluator, and the libraries of Kubernetes."""
