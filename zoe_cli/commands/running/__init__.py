"""Commands that submit and change single executions."""
