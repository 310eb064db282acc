#!/bin/bash
srun sh -c 'kill -KILL $$'
echo "killed: $?"
srun sh -c 'kill -USR1 $$'
echo "signal: $?"
