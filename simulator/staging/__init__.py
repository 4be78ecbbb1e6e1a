"""Work with a real deployment of the service: check it, import an account, pass requests on, record what passes."""
