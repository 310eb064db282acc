"""The subcommands of `zoe-sim`, one file each: `add` describes the command, and the `run` it sets carries it out."""
