"""The documentation site: `make docs-site` builds it from docs/ with Sphinx, MyST and Furo, without a network."""
