"""The algorithm that shares a store's bandwidth: pure, standard library only; for the controller and for
simulations.
"""
