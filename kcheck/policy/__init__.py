"""User-defined policies: reads them, evaluates them for objects, and says which field decided."""
