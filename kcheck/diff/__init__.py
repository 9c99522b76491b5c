"""The differences of two states of the input: changed, added and removed objects, with their fields and the verdict on each of them."""
