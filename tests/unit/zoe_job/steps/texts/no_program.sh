#!/bin/bash
srun ./no-such-program
echo "missing: $?"
echo text > text
srun ./text
echo "not executable: $?"
no-such-program-either
