"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy, evaluated as the API server does it."""
