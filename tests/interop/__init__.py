"""Other people's tools on our contract: linters, generators and the clients they write, fuzzers, collections."""
