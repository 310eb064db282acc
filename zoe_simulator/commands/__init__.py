"""The subcommands of `zoe-sim`, one file each: `add` defines the command and sets the `run` that carries it out."""
