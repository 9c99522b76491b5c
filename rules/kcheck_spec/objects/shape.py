"""Rules about fields and types of values. The engine reports them (kcheck/schema/walk.py); this module declares them."""

from kcheck.api import declare

unknown_field = declare("unknown-field", "Unknown field")
wrong_type = declare("wrong-type", "Value has the wrong type")
required_field = declare("missing-required-field", "Required field is missing")
unsupported_value = declare("unsupported-value", "Value is not among the supported values of its field")
quantity = declare("invalid-quantity", "Invalid quantity (such as 256MB instead of 256M or 256Mi)")
base64 = declare("invalid-base64", "Secret data or ConfigMap binaryData is not valid base64")
