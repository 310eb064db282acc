"""Parts of the settings by subject; `zoe_lib.settings.config` combines them."""
