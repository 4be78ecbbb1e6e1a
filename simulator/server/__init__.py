"""An HTTP/1.1 server for ASGI applications, on uvicorn and httptools: limits, deadlines, order, connection faults.

It imports nothing of the simulator. An application may also answer complete requests at once, and end an answer in ways
that ASGI cannot (see `responder`).
"""
