"""The contract as a Postman collection: requests in an order, signed and checked by scripts."""
