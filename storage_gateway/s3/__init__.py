"""An S3 store behind the gateway: answers of Swift's servers, from S3 requests."""
