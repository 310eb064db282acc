"""The supervisor of one service: a small, separate process that outlives the master.

The fork server forks it. That is started as `python -I -S` with this package's parent on the path, so everything in
here imports only the standard library and its own siblings, relatively, and avoids pathlib and typing. Twenty-five idle
supervisors took 2 % of a core. The back-end imports the names of the files from here. The two communicate
only by those files, a signal to stop (SIGUSR1) and a datagram that means "look".

One directory per service holds: `start.json` (the specification, written by the back-end), `status.json` (its state),
`usage.json` (its usage), `lock` (held while the supervisor lives), `stop` (exists after a request to stop), `output/`
(the component's output) and `shim.err` (errors of the supervisor itself).
"""
