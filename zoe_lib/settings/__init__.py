"""The parts of the settings, by what they configure; `zoe_lib.config` puts them together."""
