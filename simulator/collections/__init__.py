"""The contract as collections of requests that other tools open and run: Postman's, Bruno's, and a `.http` file."""
