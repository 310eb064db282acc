"""The supervisor of one service: a small process of its own that outlives the master.

It is started as `python -I -S` with this package's parent on the path, so everything in here imports the standard
library and its own siblings only, relatively, and spares itself pathlib and typing: about 25 ms from the start to the
component's exec on a quiet core, 15 ms more where a control group is joined (the kernel's own time), and 6 MB of memory
that is not shared. Twenty-five idle ones took 2 % of a core.
The back-end imports the names of the files from here; nothing else passes between the two but those files, a signal to
stop (SIGUSR1) and a datagram that says "look".

One directory per service holds: `start.json` (what to run, written by the back-end), `status.json` (where it is),
`usage.json` (what it uses), `lock` (held while the supervisor lives), `stop` (exists once it was asked to stop),
`output/` (what it printed) and `shim.err` (what went wrong in the supervisor itself).
"""
