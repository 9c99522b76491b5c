"""CEL as implemented by the API server: parser, type checker, cost estimation, evaluator, and the Kubernetes libraries."""
