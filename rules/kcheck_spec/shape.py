"""What the decoder says of an object's fields. The walk finds these; here are their names."""

from kcheck.api import topic

unknown_field = topic("unknown-field", "a field that the type does not have")
wrong_type = topic("wrong-type", "a value of another type than the field's")
required_field = topic("required-field", "a field that must be there and is not")
unsupported_value = topic("unsupported-value", "a word that is not among the field's values")
quantity = topic("quantity", "a quantity that Kubernetes cannot read")
base64 = topic("base64", "data that is not base64")
