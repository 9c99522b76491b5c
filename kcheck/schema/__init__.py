"""What the API server knows of its objects: shapes of the API types and the definitions of each Kubernetes version."""
