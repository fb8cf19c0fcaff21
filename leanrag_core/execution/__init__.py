"""Mapping work over workers; every way gives the same results in the same order.

A map is called as map is: executor(function, items) yields results in the items' order, and an error where its item
is. What is spread over processes or a cluster is a pure function that workers can import by its name.
"""
