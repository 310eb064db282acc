"""A store that speaks S3 behind the gateway: what Swift's servers would answer, from requests of S3."""
