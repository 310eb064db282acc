"""How the bandwidth of a store is shared: pure, standard library only; for the controller and for simulations."""
