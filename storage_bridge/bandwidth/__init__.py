"""The bandwidth algorithm: pure, standard library only; for the controller and for simulations."""
