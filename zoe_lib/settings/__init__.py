"""The parts of the settings, by what they configure; `zoe_lib.settings.config` puts them together."""
