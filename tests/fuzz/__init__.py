"""Unusual inputs and the properties that they must satisfy, for the tests (tests/robustness/test_fuzz.py) and benchmarks/fuzz.py.

An area (`areas.py`) makes an input out of a random.Random and gives it to one part of kcheck. Whatever the input, the part answers; an
exception that it does not promise is a crash. Tests let hypothesis be the Random, so that what fails gets small.
"""
