"""Configuration of Jupyter's server: outputs of cells are kept while no page shows their notebook."""

from zoe_client.kept_outputs.configuration import configure

configure(get_config())  # noqa: F821 - Jupyter defines it
