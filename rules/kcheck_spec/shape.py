"""What the decoder says of an object's fields. The walk finds these; here are their names."""

from kcheck.api import declare

unknown_field = declare("unknown-field", "a field that the type does not have")
wrong_type = declare("wrong-type", "a value of another type than the field's")
required_field = declare("required-field", "a field that must be there and is not")
unsupported_value = declare("unsupported-value", "a word that is not among the field's values")
quantity = declare("quantity", "a quantity that Kubernetes cannot read")
base64 = declare("base64", "data that is not base64")
