"""WSGI requests and answers: headers, names, bodies and framing."""
