"""The supervisor of one service: a small process of its own that outlives the master.

It is started as `python -I -S` with this package's parent on the path, so everything in here imports the standard
library and its own siblings only, relatively; that keeps the start at about 25 ms and its private memory at about 5 MB.
The back-end imports the names of the files from here; nothing else passes between the two but those files, a signal to
stop (SIGUSR1) and a datagram that says "look".

One directory per service holds: `start.json` (what to run, written by the back-end), `status.json` (where it is),
`usage.json` (what it uses), `lock` (held while the supervisor lives), `stop` (exists once it was asked to stop),
`output/` (what it printed) and `shim.err` (what went wrong in the supervisor itself).
"""
