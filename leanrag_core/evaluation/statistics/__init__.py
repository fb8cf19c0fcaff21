"""How sure a result is: intervals, rank tests, letters of groups, agreement of judges, the effect of length.

Every function gives the same result for the same input and seed, and says in its docstring what too little input gives.
"""
