"""Attach volumes of blocks: a server with a stack of filters for each, its client, a loop device and ext4.

A volume is a directory: `data` (the backing), `epoch` (of its newest attachment), `turn` (locked while something is
attached, detached or removed), `served` (locked by the server of its backing, as long as that lives), `formatted` (it
has a file system), `mount`, and `run` (files of the present attachment).

**Fencing.** A server is started only with the lock `served`, which it inherits, and which the kernel releases when its
last thread is gone; and only for an epoch that is not older than the stored one. So there is never a second server, and
a server that ends cannot write again. A server accepts only clients that name its epoch.
"""
