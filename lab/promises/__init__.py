"""The study of promises: applications that read from a store, under the production loop and under rival schedulers."""
