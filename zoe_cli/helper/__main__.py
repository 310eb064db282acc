"""Start the helper, as `zoe` does after a command that ran without one."""

from zoe_cli.helper.resident import main

main()
